"""The learning bench: one user's turns by a seed, and a row a block and a kind."""

from __future__ import annotations

import pytest

from predtui.lab.bench import learning
from predtui.llm.load import load


def test_turns_are_a_function_of_the_seed() -> None:
    assert learning.turns(30, 4) == learning.turns(40, 4)[:30]
    assert len({*learning.turns(30, 4)} & {*learning.turns(30, 5)}) == 0
    assert not any("{" in turn for turn in learning.turns(100, 6))


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
