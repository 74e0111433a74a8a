"""Joules are what the counters have counted, however often they begin anew; on a made-up /sys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.system.energy import Rapl, unreadable

RANGE = 262_143.328850
"""Joules after which an Intel processor begins anew."""


def zone(folder: Path, name: str, joules: float, label: str = "package-0") -> Path:
    """A processor whose counter stands at ``joules``."""
    made = folder / name
    made.mkdir(parents=True, exist_ok=True)
    (made / "name").write_text(f"{label}\n")
    (made / "max_energy_range_uj").write_text(f"{round(RANGE * 1e6)}\n")
    (made / "energy_uj").write_text(f"{round(joules % RANGE * 1e6)}\n")
    return made / "energy_uj"


@given(
    st.floats(0, RANGE - 1),
    st.lists(st.tuples(st.floats(0, RANGE - 1), st.floats(0, RANGE - 1)), min_size=1, max_size=8),
)
def test_no_joule_is_lost_or_counted_twice(
    tmp_path_factory: pytest.TempPathFactory, begun: float, steps: list[tuple[float, float]]
) -> None:
    folder = tmp_path_factory.mktemp("powercap")
    counters = {"intel-rapl:0": begun, "intel-rapl:1": begun / 2}
    for name, joules in counters.items():
        zone(folder, name, joules)
    rapl, used = Rapl(folder), 0.0
    for step in steps:
        for name, more in zip(counters, step, strict=True):
            counters[name] += more
            zone(folder, name, counters[name])
        used += sum(step)
        assert rapl.joules() == pytest.approx(used, abs=1e-4)


def test_the_parts_of_a_processor_and_the_whole_machine_are_not_counted_again(tmp_path: Path) -> None:
    names = {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core", "intel-rapl:1": "psys"}
    for name, label in names.items():
        zone(tmp_path, name, 100.0, label)
    rapl = Rapl(tmp_path)
    for name, label in names.items():
        zone(tmp_path, name, 130.0, label)
    assert rapl.joules() == pytest.approx(30.0)


@pytest.mark.parametrize("text", ["", "much"])
def test_without_counters_or_with_odd_ones_nothing_is_told(tmp_path: Path, text: str) -> None:
    assert Rapl(tmp_path / "absent").joules() is None
    file = zone(tmp_path, "intel-rapl:0", 1.0)
    rapl = Rapl(tmp_path)
    file.write_text(text)
    assert rapl.joules() is None
    assert Rapl(tmp_path).joules() is None


def test_where_one_counter_may_not_be_read_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [zone(tmp_path, f"intel-rapl:{number}", 1.0) for number in range(2)]
    assert unreadable(tmp_path) == ()
    monkeypatch.setattr(os, "access", lambda path, mode: path != files[1])
    assert unreadable(tmp_path) == (files[1],)
    assert Rapl(tmp_path).joules() is None
