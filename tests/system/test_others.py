"""What other work takes of the machine, by counters that are simulated."""

from __future__ import annotations

import pytest

from predtui.system import others
from predtui.system.others import Others


@pytest.mark.parametrize(("used", "own", "taken"), [(20.0, 0.0, 2.0), (20.0, 15.0, 0.5), (10.0, 10.1, 0.0)])
def test_what_this_process_and_its_children_use_is_not_of_others(
    used: float, own: float, taken: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = {"_used": 1000.0, "_own": 7.0, "monotonic": 50.0}
    monkeypatch.setattr(others, "_used", lambda: seconds["_used"])
    monkeypatch.setattr(others, "_own", lambda: seconds["_own"])
    monkeypatch.setattr("predtui.system.others.time.monotonic", lambda: seconds["monotonic"])
    watch = Others()
    seconds = {"_used": 1000.0 + used, "_own": 7.0 + own, "monotonic": 60.0}
    assert watch.processors() == pytest.approx(taken)


def test_the_counters_of_this_machine_rise() -> None:
    used, own = others._used(), others._own()
    sum(range(10**5))
    assert others._used() >= used
    assert others._own() >= own
