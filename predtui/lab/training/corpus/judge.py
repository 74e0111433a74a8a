"""Consistency judgements: does this (partial) question fit this (partial) answer, yes or no?

An answer fits a question so far if some case whose wording begins with the question has a reply that begins with
the answer. Each label is right by construction: a ``yes`` cuts question and answer out of one case, or stops the
question before it tells two cases apart; a ``no`` shows in both the words in which two cases differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

from predtui.lab.training.corpus.phrasing import NoPhraseError, UserTurn, draw, filled, turn, written
from predtui.lab.training.corpus.style import draw_style
from predtui.lab.training.corpus.text import cut, holds, sentences
from predtui.lab.training.corpus.types import Case, Example, Intent, Split
from predtui.predgen.prompts import judge_messages
from predtui.state.events import Message

AnyIntent = Callable[[random.Random], Intent]

_TRIES = 8
_CROSSED = 0.45
"""Share of the ``no`` judgements that set two intents against each other; their questions are whole."""
_UNRELATED = 0.6
"""Share of these that are about different things: easily told apart, and what a model learns to compare texts from."""
_MUTATED = 0.5
"""Share of the others that change a single slot of the question."""
_EARLY = 0.12
"""Share of the ``yes`` judgements whose question stops before it tells which case is meant."""
_WHOLE = 0.85
"""Share of the other ``yes`` judgements with a whole question. With it about as many questions are whole on either
side: were cut ones a sign of ``yes``, a model would learn that sign and never compare the two texts."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A question in ordinary spelling (``whole`` if nothing of it is cut), and an answer with the number of its words
    that fit (None: all). ``changed`` is a slot value of the question that its case does not have."""

    question: str
    whole: bool
    answer: str
    fitting: int | None = None
    changed: str = ""


_Drawn = tuple[_Pair, Case, UserTurn]


def differs_at(one: str, other: str) -> int:
    """How many words of ``one`` must be seen to tell it from ``other``; 0 if it is a beginning of ``other``."""
    left, right = one.split(" "), other.split(" ")
    for at, word in enumerate(left):
        if at >= len(right) or word != right[at]:
            return at + 1
    return 0


def _cut_from(text: str, least: int, rng: random.Random, whole: float = 0.5) -> str:
    """``text`` cut to no less than its first ``least`` words; left whole by the chance ``whole``."""
    length = text.count(" ") + 1
    return text if rng.random() < whole else cut(text, rng.randint(max(1, least), max(1, least, length)))


def _first(reply: str) -> str:
    return sentences(reply)[0]


def _answer(case: Case, least: int, rng: random.Random) -> str | None:
    """The first sentence of the reply or a part of it, ``least`` words long or longer."""
    first = _first(case.reply)
    return None if least > first.count(" ") + 1 else _cut_from(first, max(least, 3), rng)


def _other(intent: Intent, case: Case, rng: random.Random) -> Case | None:
    """Another case of the intent: of a few drawn, the one that shares the most slots."""
    drawn = [other for other in (intent.draw(rng) for _ in range(3)) if other.reply != case.reply]
    shared = [sum(case.slots.get(name) == value for name, value in other.slots.items()) for other in drawn]
    return drawn[shared.index(max(shared))] if drawn else None


def _fitting(case: Case, asked: UserTurn, rng: random.Random) -> _Pair | None:
    question = _cut_from(filled(asked, case), 1, rng, whole=_WHOLE)
    answer = _answer(case, 1, rng)
    return None if answer is None else _Pair(question, question == filled(asked, case), answer)


def _fitting_early(intent: Intent, case: Case, asked: UserTurn, rng: random.Random) -> _Pair | None:
    """The question of ``case`` up to where it could still become the one of another case, with that one's answer."""
    other = _other(intent, case, rng)
    if other is None or not asked.template.slots <= other.slots.keys():
        return None
    question = filled(asked, case)
    until = differs_at(question, filled(asked, other)) - 1
    answer = _answer(other, differs_at(other.reply, case.reply), rng)
    if until < 1 or answer is None:
        return None
    return _Pair(cut(question, rng.randint(max(1, until - 2), until)), False, answer)


def _other_case(intent: Intent, case: Case, asked: UserTurn, rng: random.Random) -> _Pair | None:
    other = _other(intent, case, rng)
    if other is None or not asked.template.slots <= other.slots.keys():
        return None
    question = filled(asked, case)
    shown = differs_at(question, filled(asked, other))
    told = differs_at(other.reply, case.reply)
    answer = _answer(other, told, rng) if told else None
    if shown == 0 or answer is None:
        return None
    cut_question = _cut_from(question, shown, rng, whole=0.3)
    return _Pair(cut_question, cut_question == question, answer, told - 1)


def _other_slot(intent: Intent, case: Case, asked: UserTurn, rng: random.Random) -> _Pair | None:
    """The question with one slot changed, against the answer to the unchanged one that names this slot."""
    other = _other(intent, case, rng)
    names = sorted(name for name in asked.template.slots if other and other.slots.get(name) != case.slots[name])
    if other is None or not names:
        return None
    name = rng.choice(names)
    changed = filled(asked, replace(case, slots={**case.slots, name: other.slots.get(name, "")}))
    shown = differs_at(changed, filled(asked, case))
    answer = _answer(case, 3, rng)
    if not other.slots.get(name) or shown == 0 or answer is None:
        return None
    if not holds(answer, case.slots[name]) or holds(answer, other.slots[name]):
        return None
    question = _cut_from(changed, shown, rng, whole=0.3)
    fitting = _fitting_words(answer, case.slots[name], other.slots[name])
    return _Pair(question, question == changed, answer, fitting, other.slots[name])


def _fitting_words(answer: str, value: str, other: str) -> int:
    """How many words of ``answer`` come before the word of its slot ``value`` that tells it from ``other``."""
    until = next(n for n in count(1) if holds(cut(answer, n), value))
    return until - value.count(" ") - 2 + max(1, differs_at(value, other))


def _other_intent(intent: Intent, split: Split, any_intent: AnyIntent, rng: random.Random) -> _Drawn | None:
    """The whole question against the answer of another intent, about the same thing where one is wanted and found.

    Intents that draw from one table draw the same row of it from the same seed.
    """
    seed = rng.getrandbits(32)
    case = intent.draw(random.Random(seed))
    named = set(case.slots.values())
    unrelated = rng.random() < _UNRELATED
    for _ in range(_TRIES):
        another = any_intent(rng)
        other = another.draw(rng if unrelated else random.Random(seed))
        if another.name != intent.name and (unrelated or named.intersection(other.slots.values())):
            break
    least = differs_at(other.reply, case.reply)
    answer = _answer(other, least, rng) if least else None
    if answer is None or another.name == intent.name:
        return None
    asked = turn(intent, case, split, rng)
    return _Pair(filled(asked, case), True, answer, least - 1), case, asked


def _one_intent(intent: Intent, fits: bool, split: Split, rng: random.Random) -> _Drawn | None:
    case, asked = draw(intent, split, rng)
    if fits:
        early = rng.random() < _EARLY
        pair = _fitting_early(intent, case, asked, rng) if early else _fitting(case, asked, rng)
    else:
        mutated = rng.random() < _MUTATED
        pair = (_other_slot if mutated else _other_case)(intent, case, asked, rng)
    return (pair, case, asked) if pair else None


def judgement(any_intent: AnyIntent, split: Split, rng: random.Random) -> Example:
    """A judgement about a turn of ``split``: a question, an answer and the verifier's
    question about them, answered ``yes`` or ``no``."""
    fits = rng.random() < 0.5
    drawn = None
    while drawn is None:
        intent = any_intent(rng)
        crossed = not fits and rng.random() < _CROSSED
        try:
            drawn = _other_intent(intent, split, any_intent, rng) if crossed else _one_intent(intent, fits, split, rng)
        except NoPhraseError:
            continue
    pair, case, asked = drawn
    spelled = replace(case, slots={**case.slots, "changed": pair.changed})
    question = written(pair.question, asked.mark if pair.whole else "", spelled, draw_style(rng), rng)
    answer = "yes" if fits else "no"
    return Example(
        messages=(*judge_messages(question, pair.answer), Message("assistant", answer)),
        intent=intent.name,
        split=split,
        kind="judge",
        key=(answer,),
        template=asked.template.name,
        slots=case.slots,
        fitting=pair.fitting,
    )
