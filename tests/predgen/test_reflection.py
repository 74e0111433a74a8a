"""The reflection verifier: a yes accepts the first sentence as a whole, a no leaves it to exact match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from predtui.decoding.sampler import Greedy
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.rows import ArrayRows, Rows
from predtui.predgen.prompts import JUDGE_QUESTION
from predtui.predgen.reflection import Reflection
from predtui.predgen.verifiers import Judge, make_verifier
from tests.predgen.test_verifiers import PROMPT, Verified, verified


class Judging:
    """A model that is another one, but for what it says to the judge's question."""

    def __init__(self, loaded: LoadedModel, verdict: str) -> None:
        self._loaded, self._verdict = loaded, verdict
        self.counters, self.abilities = loaded.model.counters, replace(loaded.abilities, trees=False, spares=False)
        self.vocab_size, self.context_size = loaded.model.vocab_size, loaded.model.context_size

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        rows = self._loaded.model.forward(tokens, last).logits
        if JUDGE_QUESTION in self._loaded.tokenizer.decode(tokens):
            for word in ("yes", "no"):
                rows[-1, self._loaded.tokenizer.encode(word)[0]] = 50.0 if word == self._verdict else -50.0
        return ArrayRows(rows)

    def forget(self, keep: int = 0) -> None: ...

    def close(self) -> None: ...


def judged(verdict: str, candidate_text: str) -> tuple[LoadedModel, Verified, Verified]:
    plain = load("3", engine="scripted")
    loaded = replace(plain, model=Judging(plain, verdict))
    candidate = plain.tokenizer.encode(candidate_text)
    return (
        loaded,
        verified(make_verifier("reflection", loaded, Greedy()), PROMPT, candidate),
        verified(make_verifier("greedy", plain, Greedy()), PROMPT, candidate),
    )


def test_reflection_takes_the_first_sentence_whole_where_the_model_says_yes() -> None:
    loaded, result, _ = judged("yes", "It is so. And then some")
    assert loaded.tokenizer.decode(result.accepted).strip() == "It is so."
    assert result.next_token is not None
    assert not result.lossless


def test_reflection_judges_an_unfinished_sentence_as_far_as_it_goes() -> None:
    loaded, result, _ = judged("yes", "It is")
    assert loaded.tokenizer.decode(result.accepted) == "It is"


def test_reflection_is_greedy_where_the_model_says_no_and_where_there_is_nothing_to_judge() -> None:
    for text in ("It is so. And then some", ""):
        _, result, greedy = judged("no", text)
        assert result == greedy
    _, result, greedy = judged("yes", "")
    assert result == greedy


def test_a_judgement_costs_one_forward_and_the_next_token_none() -> None:
    plain = load("3", engine="scripted")
    verifier = make_verifier("reflection", replace(plain, model=Judging(plain, "yes")), Greedy())
    before = plain.model.counters.forwards
    verified(verifier, PROMPT, plain.tokenizer.encode("It is so."))
    assert plain.model.counters.forwards == before + 1


@pytest.mark.parametrize("text", ["", "It is so. And then some"])
def test_a_judgement_is_a_verification_of_the_sentence_with_the_question_behind_it(text: str) -> None:
    plain = load("3", engine="scripted")
    rule = Reflection(replace(plain, model=Judging(plain, "yes")), Greedy())
    assert isinstance(rule, Judge)
    judgement = rule.judge(PROMPT, plain.tokenizer.encode(text))
    assert (judgement is None) == (not text)
    if judgement is not None:
        assert judgement.context == tuple(PROMPT)
        assert JUDGE_QUESTION in plain.tokenizer.decode(judgement.draft.tokens[len(judgement.path) :])
        assert len(judgement.rows) == len(judgement.draft.tokens) + 1


def test_what_leaves_no_room_for_the_question_is_left_to_exact_match() -> None:
    plain = load("3", engine="scripted", context=40)
    rule = Reflection(replace(plain, model=Judging(plain, "yes")), Greedy())
    assert rule.judge(PROMPT, plain.tokenizer.encode("It is so.")) is None
