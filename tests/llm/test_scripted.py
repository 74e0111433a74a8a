from __future__ import annotations

import numpy as np
import pytest

from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy
from predtui.llm.base import ContextOverflow, common_prefix
from predtui.llm.load import load
from predtui.llm.scripted import CharacterTokenizer, ScriptedModel
from predtui.state.events import Message


def test_rows_do_not_depend_on_how_they_are_asked_for() -> None:
    tokens = [5, 9, 14, 22, 31, 8, 5, 40]
    model = ScriptedModel(seed=3)
    together = model.forward(tokens, 8).logits
    alone = [ScriptedModel(seed=3).forward(tokens[: i + 1]).logits[0] for i in range(8)]
    assert np.array_equal(together, np.stack(alone))


def test_counts_as_a_real_model_does() -> None:
    model = ScriptedModel()
    model.forward([5, 6, 7, 8])
    model.forward([5, 6, 7, 8, 9])
    model.forward([5, 6, 9], last=2)
    assert (model.counters.forwards, model.counters.tokens) == (3, 4 + 1 + 2)


def test_the_common_prefix_of_lists_and_tuples() -> None:
    assert [common_prefix([1, 2, 3], other) for other in ((1, 2, 3), (1, 2), (1, 5, 3), (), [1, 2, 3, 4])] == [
        3,
        2,
        1,
        0,
        3,
    ]


def test_refuses_what_a_real_model_refuses() -> None:
    model = ScriptedModel(context=4)
    with pytest.raises(ValueError, match="last"):
        model.forward([])
    with pytest.raises(ValueError, match="within"):
        model.forward([9999])
    with pytest.raises(ContextOverflow):
        model.forward([5] * 5)


def test_replies_end_hold_sentences_and_depend_on_the_prompt() -> None:
    loaded = load("7", engine="scripted")
    replies = []
    for word in ("what", "is", "the", "sun", "made", "of", "then", "so"):
        prompt = loaded.prompt_tokens([Message("user", word)])
        replies.append(list(generate(loaded.model, prompt, Greedy(), 400, loaded.tokenizer.is_end)))
    assert len({tuple(reply) for reply in replies}) > 2


def test_the_alphabet_survives_the_way_there_and_back() -> None:
    tokenizer = CharacterTokenizer()
    assert tokenizer.decode(tokenizer.encode("Hello, it is 3.14!")) == "Hello, it is 3.14!"
    assert tokenizer.decode(tokenizer.encode("\x01W")) == "??"
