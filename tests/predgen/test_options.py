"""The bench's method ``paper`` does, forward by forward, what PredGen's Algorithm 1 says, in the rounds of its authors'
run."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy
from predtui.lab.bench import methods, predgen, streams
from predtui.lab.profiles import HardwareProfile
from predtui.llm.base import common_prefix
from predtui.llm.load import load
from predtui.predgen.options import Rounds, SpeculationOptions
from predtui.predgen.window import Window
from predtui.state.events import Transcript
from predtui.text import first_sentence

WORDS = ["what", "is", "the", "sun", "made", "of", "no", "Why?"]
said = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)


@dataclass
class Expected:
    """What becomes of a turn: forwards of a final verification and of what follows it to the end of the first
    sentence; seconds that they end after the end of the input; tokens chosen in the whole turn."""

    nfetfs: int = 0
    ttfs_s: float = 0.0
    generated: int = 0


def algorithm_1(options: SpeculationOptions, inputs: list[tuple[float, str]], forward_s: float) -> Expected:
    """PredGen's Algorithm 1 where each forward takes ``forward_s``. ``inputs``: prompts with the second of each, the
    last one final. In its favour, a candidate for the very prompt is not verified, nor one that has ended again."""
    loaded = load(options.model, options.engine)
    window, is_end = Window(loaded, options.system, options.reply_tokens), loaded.tokenizer.is_end

    def reply(prompt: str) -> list[int]:
        tokens = window.tokens((), prompt)
        limit = min(options.reply_tokens, loaded.model.context_size - len(tokens))
        return list(generate(loaded.model, tokens, Greedy(), limit, is_end))

    *partials, (end, final) = inputs
    result, candidate, now, seen = Expected(), list[int](), forward_s, -1  # what stands before the words is read
    while now < end:
        newest = sum(time <= now for time, _ in partials) - 1
        whole = reply(partials[newest][1]) if newest >= 0 else []
        kept = common_prefix(candidate, whole)
        longer = whole[: 30 if seen < 0 else kept + 1 + 10]
        if newest == seen and len(longer) == kept:  # nothing to add, and nothing new: wait for input
            now = min((time for time, _ in inputs if time > now), default=end)
            continue
        forwards = max(1, len(longer) - kept)
        now, seen, candidate = now + forwards * forward_s, newest, longer
        result.generated += len(longer) - kept
    whole = reply(final)
    kept = common_prefix(candidate, whole)
    text = loaded.tokenizer.decode
    stands = next(n for n in range(1, len(whole) + 1) if first_sentence(text(whole[:n]), n == len(whole)) is not None)
    verified = seen >= 0 and partials[seen][1] == final
    result.nfetfs = max(int(not verified), stands - kept)
    result.ttfs_s = now - end + result.nfetfs * forward_s
    result.generated += len(whole) - kept
    return result


@given(said, st.integers(100, 3000), st.sampled_from("0123456789"), st.sampled_from([3.17, 26.13, 111.9]))
@settings(max_examples=30, deadline=None)
def test_the_method_paper_is_algorithm_1_in_rounds(prompt: str, rate: int, model: str, forward_ms: float) -> None:
    options = SpeculationOptions(engine="scripted", model=model, system="sys", reply_tokens=120)
    profile = HardwareProfile("toy", "made up", (1, 512), (0,), ((forward_ms, forward_ms),), 1e9, 50.0, 2.0)
    stream = streams.typed(prompt, rate)
    (turn,) = predgen.run(methods.chosen("paper"), [streams.Dialogue((stream,))], options, profile)
    heard = [event for event in streams.events(stream, ()) if isinstance(event, Transcript) and event.prompt]
    firsts = {event.prompt: (event.time, event.prompt) for event in reversed(heard) if not event.final}
    inputs = [*reversed(firsts.values()), (heard[-1].time, heard[-1].prompt)]
    expected = algorithm_1(options, inputs, forward_ms / 1000)
    found = (turn.nfetfs, turn.ttfs_ms, turn.generated)
    assert found == (expected.nfetfs, pytest.approx(expected.ttfs_s * 1000, abs=0.01), expected.generated)


def test_rounds_end_where_the_authors_look_at_the_input() -> None:
    rounds = Rounds(30, 10)
    assert [new for new in range(60) if rounds.ends(new, begins=True)] == [30, 41, 52]
    assert [new for new in range(40) if rounds.ends(new, begins=False)] == [11, 22, 33]
