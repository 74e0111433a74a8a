"""The composed corpus: determinism, shares, held-out splits, judgements, speed."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from predtui.lab.training.corpus import compose, judge
from predtui.lab.training.corpus.grammar import slot_names
from predtui.lab.training.corpus.intents import INTENTS
from predtui.lab.training.corpus.intents.calendar import DAYS
from predtui.lab.training.corpus.phrasing import pair_held_out, split_templates
from predtui.lab.training.corpus.text import holds, sentences, words
from predtui.lab.training.corpus.types import Case, Example, Intent
from predtui.predgen.prompts import judge_messages

PLANS = {intent.name: split_templates(intent.name, intent.phrases) for intent in INTENTS}
TEMPLATES = {
    template.name: template
    for found in PLANS.values()
    for template in (*found.seen, *found.held_out, *found.followups, *found.held_out_followups)
}


def draw_many(n: int, seed: int) -> list[Example]:
    rng = random.Random(seed)
    return [compose.sample(rng) for _ in range(n)]


@pytest.fixture(scope="module")
def many() -> list[Example]:
    return draw_many(20_000, seed=11)


def test_a_seed_gives_the_same_corpus() -> None:
    assert draw_many(300, seed=3) == draw_many(300, seed=3)
    assert draw_many(300, seed=3) != draw_many(300, seed=4)
    assert compose.heldout("frames", 50, seed=5) == compose.heldout("frames", 50, seed=5)


def test_no_held_out_template_is_trained_on(many: list[Example]) -> None:
    hidden = {t.name for found in PLANS.values() for t in (*found.held_out, *found.held_out_followups)}
    assert len(hidden) >= 2 * sum(len(found.seen) >= 10 for found in PLANS.values())
    assert not hidden & {example.template for example in many}
    assert {example.split for example in many} == {"train"}


def test_no_held_out_pair_is_trained_on(many: list[Example]) -> None:
    shown = [example for example in many if example.template in TEMPLATES]
    assert len(shown) > 15_000
    assert not [e for e in shown if pair_held_out(TEMPLATES[e.template], Case(e.slots, ""))]


def test_held_out_examples_are_of_their_split() -> None:
    for example in compose.heldout("frames", 300, seed=1):
        template = TEMPLATES.get(example.template)
        assert template is None or template in (
            *PLANS[example.intent].held_out,
            *PLANS[example.intent].held_out_followups,
        )
        assert template is not None or "_of_reply/" in example.template
    for example in compose.heldout("slots", 300, seed=1):
        assert pair_held_out(TEMPLATES[example.template], Case(example.slots, ""))


def test_the_mixture_has_its_shares(many: list[Example]) -> None:
    kinds = Counter(example.kind for example in many)
    assert 0.04 < kinds["judge"] / len(many) < 0.06
    asked = [example for example in many if example.kind != "judge"]
    assert 0.13 < kinds["truncated"] / len(asked) < 0.17
    assert 0.40 < sum(len(example.messages) > 2 for example in asked) / len(asked) < 0.48
    assert 0.14 < sum(len(example.messages) > 8 for example in asked) / len(asked) < 0.20
    assert max(len(example.messages) for example in asked) > 30
    assert all(example.learn_all == (len(example.messages) > 2) for example in asked)


def test_small_talk_alone_is_not_the_beginning_of_something_else(many: list[Example]) -> None:
    replies: dict[str, Counter[str]] = {}
    for example in many:
        if example.kind == "truncated" and len(example.messages) == 2:
            said = " ".join(words(example.messages[0].content))
            replies.setdefault(said, Counter())[example.messages[1].content] += 1
    talk = {case.reply for intent in INTENTS if intent.group == "smalltalk" for case in [intent.draw(random.Random(0))]}
    alone = [e for e in many if e.template == "alone"]
    assert 0.03 < len(alone) / len(many) < 0.05
    for example in alone:
        assert set(replies.get(" ".join(words(example.messages[0].content)), ())) <= talk


def test_every_message_says_something_and_roles_alternate(many: list[Example]) -> None:
    for example in many:
        assert [m.role for m in example.messages] == ["user", "assistant"] * (len(example.messages) // 2)
        assert all(m.content.strip() for m in example.messages)
        assert "<" not in example.messages[-2].content


def test_in_a_conversation_nobody_is_told_that_nothing_was_said(many: list[Example]) -> None:
    for example in many:
        replies = [message.content for message in example.messages[1::2]]
        denials = [reply.startswith("I have not said anything yet") for reply in replies]
        # said again where it was asked to be said again, never out of the blue
        assert denials[0] or not any(denials)


def test_followups_come_after_a_turn_of_their_intent(many: list[Example]) -> None:
    followups = [e for e in many if "/followup/" in e.template]
    assert len(followups) > 200
    assert all(len(example.messages) >= 4 for example in followups)


def test_requests_about_the_reply_are_answered_from_it(many: list[Example]) -> None:
    again = [e for e in many if e.intent == "again_of_reply"]
    shorter = [e for e in many if e.intent == "shorter_of_reply"]
    assert len(again) > 50
    assert len(shorter) > 50
    assert all(e.messages[-1].content == e.messages[-3].content for e in again)
    assert all(len(e.messages[-1].content) <= len(e.messages[-3].content) for e in shorter)


@pytest.mark.parametrize("intent", INTENTS, ids=lambda intent: intent.name)
def test_every_intent_keeps_its_contract(intent: Intent) -> None:
    rng = random.Random(intent.name)
    cases = [intent.draw(rng) for _ in range(60)]
    fillable: set[str] = set().union(*(case.slots for case in cases))
    for form in ("noun", "question", "clause", "command", "followup"):
        for template in getattr(intent.phrases, form):
            assert slot_names(template) <= fillable, template
    for case in cases:
        assert case.reply[-1] in ".!?"
        assert 1 <= len(sentences(case.reply)) <= 4
        assert all(holds(case.reply, key) for key in case.key), case


def test_judgements_are_balanced_and_in_the_words_of_the_verifier(many: list[Example]) -> None:
    judged = [example for example in many if example.kind == "judge"]
    fitting = sum(example.messages[-1].content == "yes" for example in judged)
    assert 0.45 < fitting / len(judged) < 0.55
    for example in judged:
        question, answer, *_ = (message.content for message in example.messages[-4:])
        assert example.messages[-4:-1] == judge_messages(question, answer)
        assert example.messages[-1].content in {"yes", "no"}


@pytest.mark.parametrize("name", ["day_after", "day_before"])
def test_judgements_are_decidable_by_the_days_they_show(name: str) -> None:
    """In these intents the day is all that tells cases apart, so the label must follow from the first days shown."""
    intent = next(intent for intent in INTENTS if intent.name == name)
    rng = random.Random(2)
    labels = Counter[str]()
    for _ in range(600):
        example = judge.judgement(lambda rng: intent, "train", rng)
        question, answer, _, label = (message.content for message in example.messages)
        asked, told = ([word for word in words(text) if word.title() in DAYS][:1] for text in (question, answer))
        assert (label == "no") == bool(asked and told and asked != told), example.messages
        labels[label] += 1
    assert min(labels.values()) > 100


def test_held_out_judgements_ask_what_training_never_shows() -> None:
    judged = compose.judgements(300, seed=9)
    assert judged == compose.judgements(300, seed=9)
    assert all(pair_held_out(TEMPLATES[e.template], Case(e.slots, "")) for e in judged)
    assert 100 < sum(e.key == ("yes",) for e in judged) < 200
