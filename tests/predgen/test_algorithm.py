"""Algorithm 1: round by round, what is kept is the verifier's and what follows is the decoder's."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.autoregressive import Autoregressive, generate
from predtui.decoding.draft import Verification
from predtui.decoding.sampler import Greedy
from predtui.llm.base import common_prefix
from predtui.llm.load import load
from predtui.predgen.algorithm import Progress, Prompt, Speculator
from predtui.predgen.verifiers import make_verifier

LIMIT = 25
prompts = st.lists(st.lists(st.integers(4, 40), min_size=1, max_size=6), min_size=1, max_size=5)


def speculator(memory: int = 1) -> Speculator:
    loaded = load("4", engine="scripted")
    return Speculator(
        loaded, Autoregressive(loaded.model, Greedy()), make_verifier("greedy", loaded, Greedy()), LIMIT, memory
    )


def plain(prompt: list[int]) -> list[int]:
    loaded = load("4", engine="scripted")
    return list(generate(loaded.model, prompt, Greedy(), LIMIT, loaded.tokenizer.is_end))


@given(prompts, st.integers(0, 12))
@settings(max_examples=30, deadline=None)
def test_the_loop_is_the_papers(partial: list[list[int]], enough: int) -> None:
    """k_i tokens of R_i are those on which plain decoding of P_{i+1} agrees, and R_{i+1} goes on from them as far as it
    is asked to; the last prompt is worked off."""
    asked = [Prompt(tokens, enough=lambda progress: len(progress.tokens) >= enough) for tokens in partial[:-1]]
    steps = iter([*speculator().run([*asked, Prompt(partial[-1])])])
    candidate: list[int] = []
    before: list[int] = []
    for number, tokens in enumerate(partial):
        reply, last = plain(tokens), number == len(partial) - 1
        kept = len(candidate) if tokens == before else common_prefix(candidate, reply)
        ends = len(reply) if last else min(len(reply), max(kept + (tokens != before), enough))
        step = next(steps)
        assert list(step.kept) == reply[:kept]
        assert list(step.kept + step.rejected) == (candidate if tokens != before else reply[:kept])
        while len(step.tokens) < ends:
            step = next(steps)
        assert list(step.tokens) == reply[:ends]
        assert step.ended == (ends == len(reply))
        candidate, before = reply[:ends], tokens
    assert next(steps, None) is None


def test_what_is_stale_at_once_changes_nothing() -> None:
    one = speculator()
    list(one.run([Prompt([5, 9])]))
    before = one.candidate
    assert list(one.advance(Prompt([7, 7], stale=lambda: True))) == []
    assert one.candidate == before


def test_another_verifier_trusts_no_candidate_but_keeps_the_present_one() -> None:
    one = speculator(memory=3)
    replies = [[*one.advance(Prompt(tokens))][-1].tokens for tokens in ([5, 9], [5, 9, 14])]
    assert [one.candidate_for(tokens) for tokens in ([5, 9], [5, 9, 14])] == replies
    one.verify_by(make_verifier("top3", load("4", engine="scripted"), Greedy()))
    assert [one.candidate_for(tokens) for tokens in ([5, 9], [5, 9, 14])] == [(), ()]
    assert one.candidate == replies[1]


def test_progress_is_what_is_kept_and_what_is_new() -> None:
    assert Progress((1, 2), (3,), (4,), False, True).tokens == (1, 2, 3)


def test_the_decoder_observes_every_forward_of_the_verification_once() -> None:
    """What was verified teaches drafters as much as what is decoded: what the model thought likely there, above all."""
    loaded = load("4", engine="scripted")
    seen: list[Verification] = []

    class Pupil(Autoregressive):
        def observe(self, verification: Verification) -> None:
            seen.append(verification)

    decoder = Pupil(loaded.model, Greedy())
    one = Speculator(loaded, decoder, make_verifier("greedy", loaded, Greedy()), LIMIT)
    before = loaded.model.counters.forwards
    for tokens in ([5, 9], [5, 9, 14], [5, 9, 14], [7]):
        list(one.advance(Prompt(tokens)))
    assert len(seen) == loaded.model.counters.forwards - before - decoder.statistics.forwards
    assert [verification.context for verification in seen] == [(5, 9), (5, 9, 14), (7,)]
    assert all(len(verification.rows) == len(verification.evaluated) for verification in seen)
