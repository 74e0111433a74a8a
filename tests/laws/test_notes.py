"""With notes to answer from, a reply is token for token the one with retrieval after the end of input.

Over random prompts, revisions of them, pre-emption, and notes that change meanwhile; with the whole index looked into
each time, and with guesses out of a cache.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.autoregressive import Autoregressive, generate
from predtui.decoding.sampler import Greedy
from predtui.llm.load import load
from predtui.predgen.algorithm import Prompt, Speculator
from predtui.predgen.notes import retrieval
from predtui.predgen.notes.notes import Notes
from predtui.predgen.verifiers import make_verifier
from predtui.predgen.window import Window
from tests.laws.test_lossless import after

REPLY = 30
CONTEXT = 700
WORDS = ["carrot", "flight", "garden", "hotel", "when", "is", "the", "my"]
said = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
notes = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)
steps = st.lists(
    st.tuples(said, st.none() | st.integers(0, 20), st.booleans(), st.none() | st.tuples(st.integers(0, 3), notes)),
    max_size=6,
)
"""What is said, after how many questions the work on it is stale, whether it is a guess about what may be said, and
which note is written before it."""


def written(folder: Path, number: int, text: str) -> None:
    """A note, or none where it is empty."""
    path = folder / f"{number}.md"
    path.write_text(text) if text else path.unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _small_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the cache has not all of the few notes, and is wrong now and then."""
    monkeypatch.setattr(retrieval, "COUNT", 1)
    monkeypatch.setattr(retrieval, "PREFETCHED", 1)


@given(steps, said, st.none() | notes, st.sampled_from([0.0, 1.0]), st.integers(0, 5))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_reply_is_the_one_with_retrieval_after_the_end_of_input(
    history: Sequence[tuple[str, int | None, bool, tuple[int, str] | None]],
    final: str,
    last: str | None,
    slow_s: float,
    seed: int,
) -> None:
    loaded, plain = (load(str(seed), engine="scripted", context=CONTEXT) for _ in range(2))
    speculator = Speculator(
        loaded, Autoregressive(loaded.model, Greedy()), make_verifier("greedy", loaded, Greedy(), None), REPLY, 3, 2
    )
    with tempfile.TemporaryDirectory() as named:
        folder = Path(named)
        for number, text in enumerate(["my flight", "the garden", "when is the flight", "the hotel garden"]):
            written(folder, number, text)
        kept = Notes(named, VirtualClock().now, slow_s)
        list(kept.look())
        window = Window(loaded, "sys", REPLY, kept.passages)
        for prompt, stale_after, ahead, change in history:
            if change:
                written(folder, *change)
            list(kept.look(at_once=False))
            tokens = window.tokens((), prompt, guess=True)
            for progress in speculator.advance(Prompt(tokens, after(stale_after), ahead)):
                if len(progress.tokens) > 20:
                    break
        if last is not None:
            written(folder, 0, last)
        list(kept.look())
        tokens = window.tokens((), final)
        reply = [progress.tokens for progress in speculator.advance(Prompt(tokens))][-1]
        fresh = Notes(named, VirtualClock().now)
        list(fresh.look())
        prompt_after = Window(plain, "sys", REPLY, fresh.passages).tokens((), final)
        kept.close(), fresh.close()
    assert tokens == prompt_after
    assert list(reply) == list(generate(plain.model, prompt_after, Greedy(), REPLY, plain.tokenizer.is_end))
