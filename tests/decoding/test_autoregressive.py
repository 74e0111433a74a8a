from __future__ import annotations

from itertools import islice

from predtui.decoding.autoregressive import Autoregressive, generate
from predtui.decoding.base import DecodingStatistics
from predtui.decoding.sampler import Greedy, Seeded
from predtui.llm.load import load
from predtui.llm.scripted import ScriptedModel

PROMPT = [5, 9, 14]


def no_end(token: int) -> bool:
    return False


def test_a_forward_a_token_and_none_that_was_not_asked_for() -> None:
    model = ScriptedModel()
    tokens = list(islice(generate(model, PROMPT, Greedy(), 100, no_end), 4))
    assert len(tokens) == model.counters.forwards == 4
    assert model.counters.tokens == len(PROMPT) + 3


def test_stops_at_the_limit_the_end_token_and_the_end_of_the_context() -> None:
    free = list(generate(ScriptedModel(), PROMPT, Greedy(), 30, no_end))
    assert len(free) == 30
    end = free[7]
    assert list(generate(ScriptedModel(), PROMPT, Greedy(), 30, end.__eq__)) == free[: free.index(end) + 1]
    assert list(generate(ScriptedModel(context=10), PROMPT, Greedy(), 30, no_end)) == free[:8]
    assert list(generate(ScriptedModel(), PROMPT, Greedy(), 0, no_end)) == []


def test_stops_when_stale() -> None:
    asked = iter([False, False, True])
    assert len(list(generate(ScriptedModel(), PROMPT, Greedy(), 30, no_end, stale=lambda: next(asked)))) == 2


def test_a_reply_resumed_halfway_is_the_same_reply() -> None:
    chooser = Seeded(seed=5)
    whole = list(generate(ScriptedModel(), PROMPT, chooser, 20, no_end))
    rest = list(generate(ScriptedModel(), [*PROMPT, *whole[:8]], chooser, 12, no_end, position=8))
    assert rest == whole[8:]


def test_autoregressive_is_generate_with_its_figures() -> None:
    loaded = load("3", engine="scripted")
    decoder = Autoregressive(loaded.model, Greedy())
    tokens = list(decoder.generate([5, 9], 20, loaded.tokenizer.is_end, guesses=[[7]]))
    assert tokens == list(generate(loaded.model, [5, 9], Greedy(), 20, loaded.tokenizer.is_end))
    assert decoder.statistics == DecodingStatistics(tokens=len(tokens), forwards=len(tokens))
    decoder.close()
