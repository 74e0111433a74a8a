"""The pocket bench on a toy corpus: every figure is a count of something that can be counted by hand."""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from predtui.lab.bench import pocket
from predtui.lab.training.corpus.types import Example, Split
from predtui.state.events import Message

pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[1] / "training"))
from predtui.lab.training.pocket.card import write_cards
from predtui.lab.training.pocket.config import Budget, Recipe, Shape
from predtui.lab.training.pocket.train import Lessons, PocketTraining, train_pair
from tests.lab.training.pocket import toy


def _heldout(split: Split, n: int, seed: int) -> list[Example]:
    drawn = (toy.sample(random.Random(f"{split} {seed} {number}")) for number in range(n))
    return [replace(example, split=split) for example in drawn if example.kind == "reply"]


def _judgements(n: int, seed: int) -> list[Example]:
    drawn = (toy.sample(random.Random(f"{seed} {number}")) for number in range(8 * n))
    return [replace(example, split="slots") for example in drawn if example.kind == "judge"][:n]


def _right(example: Example, reply: str) -> bool:
    return reply == example.messages[-1].content


def _conversations(n: int, seed: int) -> list[Example]:
    before = [message for example in _heldout("train", 5, seed) for message in example.messages]
    return [replace(example, messages=(*before, *example.messages)) for example in _heldout("slots", n, seed)]


def _judgements_in_conversations(n: int, seed: int) -> list[Example]:
    before = _heldout("train", 5, seed)[0]
    return [replace(example, messages=(*before.messages, *example.messages)) for example in _judgements(n, seed)]


SOURCE = pocket.Source(
    _heldout,
    _conversations,
    _judgements,
    _judgements_in_conversations,
    _right,
    lambda intent: f"group {intent}",
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A target that has learned the toy corpus and a draft that has not."""
    out, work = (tmp_path_factory.mktemp(name) for name in ("models", "work"))
    shapes = (Shape(64, 2, 4, 128, vocab=340, context=256), Shape(16, 1, 2, 24, vocab=340, context=256))
    plan = PocketTraining(
        target=Budget(steps=250),
        judge=Budget(steps=40),
        draft=Budget(steps=2),
        threads=1,
        work=work,
        command="train toy",
        teaching=Recipe(batch_tokens=512, pool_batches=8, warmup_steps=10),
        drafting=Recipe(batch_tokens=512, pool_batches=8, warmup_steps=10),
        tokenizer_examples=300,
        judging=Recipe(muon_lr=0.0, batch_tokens=512, pool_batches=8, warmup_steps=10, judge_weight=10.0),
        judge_layers=1,
        shapes=shapes,
    )
    train_pair(out, plan, Lessons(*[toy.sample] * 3), Console(file=io.StringIO()))
    return out


def _value(rows: Sequence[dict[str, object]], measure: str, split: str, group: str = "all") -> float:
    (value,) = (row["value"] for row in rows if (row["measure"], row["split"], row["group"]) == (measure, split, group))
    assert isinstance(value, int | float)
    return value


def test_figures_of_a_good_target_and_a_bad_draft(models: Path) -> None:
    result = json.loads(json.dumps(pocket.run(models / "target", models / "draft", 12, 1, 1, SOURCE)))
    rows = result["rows"]
    assert {"command", "machine", "models", "rows", "wrong"} == result.keys()
    for split in ("slots", "frames"):
        assert _value(rows, "replies right", split) > 60
        assert _value(rows, "replies right, draft", split) == 0
        assert next(row["of"] for row in rows if row["split"] == split and row["group"] == "group colour") == 12
    after = {row["group"]: row["of"] for row in rows if row["measure"] == "replies right in a conversation"}
    assert after.pop("all") == sum(after.values()) > 12
    assert after.keys() <= {"after at most 4 turns", "after at most 8 turns", "after at most 16 turns"}
    assert _value(rows, "tokens that the draft foretells", "both") < 50
    assert _value(rows, "speed, prompt included", "both", "target") > 10
    assert result["models"]["target"] > result["models"]["draft"]


def test_figures_do_not_depend_on_anything_but_the_seed(models: Path) -> None:
    def shares(seed: int) -> list[dict[str, object]]:
        rows = pocket.run(models / "target", models / "draft", 4, seed, 1, SOURCE)["rows"]
        return [row for row in rows if row["unit"] == "%"]

    assert shares(3) == shares(3)


def test_a_wrong_oracle_counts_everything_wrong_and_keeps_a_few(models: Path) -> None:
    source = replace(SOURCE, right=lambda example, reply: False)
    result = pocket.run(models / "target", models / "draft", 12, 1, 1, source)
    assert _value(result["rows"], "replies right", "slots") == 0
    wrong = [one for one in result["wrong"] if one["intent"] == "colour" and one["split"] == "slots"]
    assert len(wrong) == pocket.WRONG_AN_INTENT
    assert all(one["said"] and one["expected"] for one in wrong)


def test_broken_off_prompts_keep_their_replies_and_lose_words() -> None:
    examples = _heldout("slots", 40, 2)
    for example, broken in zip(examples, pocket._truncated(examples, 0), strict=True):
        assert broken.messages[-1] == example.messages[-1]
        assert broken.messages[:-2] == example.messages[:-2]
        said = broken.messages[-2].content
        assert said
        assert example.messages[-2].content.startswith(said)
        assert said != example.messages[-2].content
    one_word = Example((Message("user", "hello"), Message("assistant", "Hi.")), "greet", "slots")
    assert pocket._truncated([one_word], 0) == []


def test_the_cards_state_the_figures(models: Path) -> None:
    figures = pocket.run(models / "target", models / "draft", 2, 1, 1, SOURCE)
    (models / "bench.json").write_text(json.dumps(figures))
    write_cards(models)
    card = (models / "draft" / "README.md").read_text()
    assert "Not measured" not in card
    assert figures["machine"] in card
    for row in figures["rows"]:
        assert f"| {row['measure']} | {row['split']} | {row['group']} | {row['value']} |" in card


def test_the_table_shows_every_row(models: Path) -> None:
    row = {"measure": "replies right", "split": "slots", "group": "all", "value": 97.5, "unit": "%", "of": 40}
    out = io.StringIO()
    Console(file=out, width=120).print(pocket.table({"machine": "a machine", "rows": [row]}))
    assert "97.5 %" in out.getvalue()
    assert "a machine" in out.getvalue()
