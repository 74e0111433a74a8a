"""The learning bench: one user's turns by a seed, and a row a block and a kind."""

from __future__ import annotations

import pytest

from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy
from predtui.lab.bench import learning
from predtui.llm.load import load


def test_turns_are_a_function_of_the_seed() -> None:
    assert learning.turns(30, 4) == learning.turns(40, 4)[:30]
    assert len({*learning.turns(30, 4)} & {*learning.turns(30, 5)}) == 0
    assert not any("{" in turn for turn in learning.turns(100, 6))


@pytest.mark.parametrize("context", [30, 1024])
def test_a_reply_ends_with_its_end_or_with_the_context_and_not_with_the_prompts(context: int) -> None:
    target, draft = (load(name, engine="scripted", context=context) for name in "12")
    prompt = [5 + number for number in range(20)]
    is_end = target.tokenizer.is_end
    end = next(token for token in range(target.model.vocab_size) if is_end(token))
    user = learning.User(target, draft, 12, 1)
    tally = learning.Tally()
    user._drafted([*prompt, end], user._drafters[0], tally)
    plain = list(generate(target.model, [*prompt, end], Greedy(), min(12, context - 21), is_end))
    assert tally.tokens == len(plain) > 0


def test_a_row_a_block_and_one_of_each_other_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "load", lambda name, threads: load(name, engine="scripted"))
    monkeypatch.setattr(learning, "OTHERS", 2)
    result = learning.run("1", "2", 30, seed=1, threads=1, limit=6)
    kinds = ["turns 1 to 25", "turns 26 to 30", learning.AGAIN, *learning.others(1)]
    assert [row["of"] for row in result["rows"]] == kinds
    assert all(row["users"] == learning.USERS and row["tokens_per_forward"] >= 1 for row in result["rows"])
    assert len(result["users"]) == learning.USERS
    for place, row in enumerate(result["rows"]):
        gains = [user[place]["gain"] for user in result["users"]]
        assert row["least"] == pytest.approx(min(gains), abs=1e-4)
        assert row["least"] <= row["gain"] <= max(gains) + 1e-4
    again = learning.run("1", "2", 30, seed=1, threads=1, limit=6)
    assert again["rows"] == result["rows"]
    assert learning.table(result).row_count == len(kinds)
