"""What a word costs does not grow with the conversation, whether or not the cache can be cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.lab.bench.words import main, run
from predtui.lab.random_gguf import Shape, write
from predtui.predgen.options import SpeculationOptions


@pytest.mark.parametrize("family", ["llama", "lfm2", "mamba"])
def test_a_word_costs_as_much_after_a_long_conversation_as_after_a_short_one(family: str, tmp_path: Path) -> None:
    path = write(tmp_path / "tiny.gguf", Shape(family, words=2000), words=["the"])
    options = SpeculationOptions(threads=1, candidate_tokens=8, continuations=0, policy=False)
    short, long = run(str(path), [150, 550], 8, options)["rows"]
    assert (short["n"], long["n"]) == (8, 8)
    assert long["history"] > short["history"] + 300
    assert long["read_tokens"] > 250, "what came before the turn is read when it begins"
    assert long["all_tokens"] < 1.3 * short["all_tokens"] + 10
    assert 1 <= long["first_forwards"] <= 2
    assert 1 <= long["all_forwards"] <= 12


def test_the_figures_go_into_a_file_and_wrong_histories_are_named(tmp_path: Path) -> None:
    options = SpeculationOptions(engine="scripted", continuations=0, policy=False)
    main("3", [0, 40], 3, options, tmp_path / "figures.json")
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [row["n"] for row in figures["rows"]] == [3, 3]
    assert [word["said"] for word in figures["words"][1:4]] == ["how", "how long", "how long should"]
    with pytest.raises(PredtuiError, match="leaves no room"):
        main("3", [10**6], 3, options, None)
