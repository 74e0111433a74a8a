"""Several lists of tokens in one context of llama.cpp: right whatever came before, and paid for once."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from predtui.llm.llamacpp.sequences import LlamaCppSequences
from predtui.llm.load import load
from predtui.llm.sequences import SEQUENCES, OneByOne, SequencesModel, sequences_of
from tests.llm.remote.double import remote
from tests.tiny_gguf import write


def test_sequences_of_llama_cpp_have_the_logits_of_a_model_that_remembers_nothing(tmp_path: Path) -> None:
    loaded = load(str(write(tmp_path / "tiny.gguf")), threads=1)
    assert isinstance(loaded.model, SequencesModel)
    several = sequences_of(loaded.model)
    assert isinstance(several, LlamaCppSequences)
    rng = random.Random(0)
    contexts = [rng.choices(range(256), k=300)]
    for _ in range(60):
        grown = [[*rng.choice(contexts)[: rng.randint(280, 320)], *rng.choices(range(256), k=rng.randint(1, 3))]]
        grown += [[*grown[0][: rng.randint(1, len(grown[0]))], rng.randrange(256)] for _ in range(rng.randint(0, 7))]
        rows = several.forward_each(grown).logits
        alone = np.concatenate([loaded.model.forward(context).logits for context in grown])
        np.testing.assert_allclose(rows, alone, atol=5e-2)
        contexts = grown
    for wrong in ([], [[1]] * (SEQUENCES + 1), [[]], [[999]]):
        with pytest.raises(ValueError, match=r"sequences|last=1|token"):
            several.forward_each(wrong)
    several.close()
    loaded.model.close()


def test_sequences_pay_only_for_what_is_new(tmp_path: Path) -> None:
    loaded = load(str(write(tmp_path / "tiny.gguf")), threads=1)
    several, counters = sequences_of(loaded.model), loaded.model.counters
    prompt = list(range(40))

    def cost(*contexts: list[int]) -> int:
        before = counters.tokens
        several.forward_each(contexts)
        return counters.tokens - before

    assert cost(prompt) == 40
    assert cost([*prompt, 1], [*prompt, 2], [*prompt, 3]) == 3
    assert cost([*prompt, 1, 4], [*prompt, 3, 5]) == 2
    assert cost([*prompt, 3, 5, 6]) == 1
    assert cost([*prompt[:30], 9]) == 1
    several.close()
    loaded.model.close()


def test_an_engine_without_sequences_is_asked_one_by_one_whatever_its_rows_tell() -> None:
    for loaded in (load("2", engine="scripted"), remote(2)):
        several = sequences_of(loaded.model)
        assert isinstance(several, OneByOne)
        contexts = [[5, 6], [5, 7, 8], [9]]
        rows = several.forward_each(contexts)
        assert [row.argmax() for row in rows] == [loaded.model.forward(one)[0].argmax() for one in contexts]
        several.close()
