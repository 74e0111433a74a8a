"""How fast weights are read: as a self-test found, or as memory is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from predtui.llm.llamacpp import rate as module
from predtui.llm.llamacpp import repacking
from predtui.llm.llamacpp.rate import rate
from predtui.llm.llamacpp.repacking import Verdict

WEIGHTS, GB = frozenset({("Q4_K", (256, 256))}), 1 << 30


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREDTUI_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(module, "_measured", lambda threads: 10.0 * GB)


def told(monkeypatch: pytest.MonkeyPatch, own: Verdict | None = None, *others: Verdict) -> float:
    monkeypatch.setattr(repacking, "remembered", lambda weights, threads: own)
    monkeypatch.setattr(repacking, "known", lambda threads: iter(others))
    return rate(WEIGHTS, 2)


def verdict(read: int, ms: float) -> Verdict:
    return Verdict(False, "", {"1": ms}, {}, read=read)


def test_the_models_own_test_says_most_then_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = verdict(GB // 10, 10.0), verdict(GB, 250.0)
    assert told(monkeypatch, small, large) == small.rate == pytest.approx(10.0 * (GB // 10) * 10)
    assert told(monkeypatch, None, small, large) == large.rate == 4.0 * GB
    assert told(monkeypatch, None, verdict(1 << 20, 0.001)) == 10.0 * GB, "caches, not memory"
    assert told(monkeypatch, None, Verdict(False, "")) == 10.0 * GB


def test_a_test_beside_something_else_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, verdict(GB, 60_000.0)) == 2.0 * GB


def test_the_most_that_memory_ever_gave_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for now, said in ((3.0, 3.0), (7.0, 7.0), (2.0, 7.0)):
        monkeypatch.setattr(module, "_measured", lambda threads, now=now: now * GB)
        assert told(monkeypatch) == said * GB


def test_memory_is_read_at_some_rate() -> None:
    from predtui.llm.llamacpp.rate import _measured

    assert 1e8 < _measured(1) < 1e13
