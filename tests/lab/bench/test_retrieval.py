"""The bench of notes: replies are the same either way, and its shares are shares of what was retrieved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.lab.bench.retrieval import main, questions, run
from predtui.predgen.options import SpeculationOptions

NOTES = {"trip.md": "The flight leaves on Friday at nine.", "garden.md": "Sow the carrots in April, water them in May."}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    at = tmp_path / "notes"
    at.mkdir()
    for name, text in NOTES.items():
        (at / name).write_text(text)
    return str(at)


def test_replies_are_the_same_and_speculation_takes_no_more_forwards(folder: str) -> None:
    options = SpeculationOptions(model="3", engine="scripted", notes=folder, reply_tokens=60, continuations=0)
    asked = questions(folder, 6, 0)
    assert len(asked) == 6
    (row,) = run(options, asked)["rows"]
    assert row["identical_share"] == 1
    assert row["retrievals"] == sum(len(question.split()) for question in asked)
    assert row["while_forwards"] <= row["after_forwards"]
    assert 0 < row["held_share"] < 1
    assert 0 <= row["held_at_end_share"] <= 1
    assert 0 <= row["right_share"] <= 1


def test_the_figures_go_into_a_file_and_a_folder_without_notes_is_named(folder: str, tmp_path: Path) -> None:
    options = SpeculationOptions(model="3", engine="scripted", notes=folder, reply_tokens=20, continuations=0)
    assert main(options, ["when is the flight"], tmp_path / "figures.json") == 0
    assert json.loads((tmp_path / "figures.json").read_text())["rows"][0]["passages"] == 2
    (tmp_path / "empty").mkdir()
    with pytest.raises(PredtuiError, match="no notes that can be read"):
        questions(str(tmp_path / "empty"), 1, 0)
