"""What is shown when: copying, quoting, worked replies, the mixture; judgements to the layers that judge."""

from __future__ import annotations

import random

from predtui.lab.training.corpus.compose import group
from predtui.lab.training.pocket.curriculum import (
    COMPUTED_POOLS,
    COPIED_POOLS,
    ERRAND_POOLS,
    ERRANDS,
    JUDGED,
    judge_lesson,
    target_lesson,
)

BEFORE = COPIED_POOLS + ERRAND_POOLS
COMPUTED = {"arithmetic", "conversion", "clock", "calendar", "followups"}


def test_copying_comes_first_and_says_what_was_said() -> None:
    rng = random.Random(1)
    for pool in range(COPIED_POOLS):
        said, reply = target_lesson(rng, pool).messages
        assert said.content.endswith(f" {reply.content}")
        assert len(reply.content.split()) >= 3


def test_then_come_requests_to_quote() -> None:
    rng = random.Random(4)
    quoted = [target_lesson(rng, pool) for pool in range(COPIED_POOLS, BEFORE) for _ in range(50)]
    assert abs(sum(group(e.intent) == "assistant" for e in quoted) / len(quoted) - ERRANDS) < 0.2


def test_worked_replies_follow_and_then_everything() -> None:
    rng = random.Random(2)
    worked = [target_lesson(rng, BEFORE + COMPUTED_POOLS - 1) for _ in range(400)]
    assert sum(group(e.intent) in COMPUTED for e in worked) > 0.9 * len(worked)
    mixture = [target_lesson(rng, BEFORE + COMPUTED_POOLS) for _ in range(400)]
    assert {group(e.intent) for e in mixture} - COMPUTED >= {"countries", "howto", "smalltalk"}


def test_judgements_are_asked_for_in_conversations_too() -> None:
    rng = random.Random(5)
    lengths = [len(e.messages) for e in (judge_lesson(rng, 0) for _ in range(600)) if e.kind == "judge"]
    assert 0.3 < sum(length > 4 for length in lengths) / len(lengths) < 0.5
    assert max(lengths) <= 4 + 2 * 20


def test_the_judge_layers_see_mostly_judgements_of_both_kinds() -> None:
    rng = random.Random(3)
    labels = [e.messages[-1].content for e in (judge_lesson(rng, 0) for _ in range(600)) if e.kind == "judge"]
    assert abs(len(labels) / 600 - JUDGED) < 0.1
    assert 0.4 < labels.count("yes") / len(labels) < 0.6
