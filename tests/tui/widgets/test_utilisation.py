"""Utilisation: engines first, where not every process fits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.state import events as ev
from predtui.tui import figures
from predtui.tui.widgets.utilisation import UtilisationPane
from tests.tui.scenes import fold


def test_engines_are_shown_where_not_every_process_fits() -> None:
    stages = (("ui", 3.0, 1.0), ("mic", 0.0, 1.0), ("asr", 8.0, 1.0), ("llm", 31.0, 1.0), ("tts", 2.0, 1.0))
    pane = UtilisationPane(fold([ev.Usage(cpu=40.0, memory_mb=512.0, stages=stages)]))
    (line,) = pane.draw(pane.values, 78, 1)
    assert line.plain == "cpu ·······▃ 40 %   gpu –   ram 512 MB   asr 8 %   llm 31 %   tts 2 %   ui 3 %"


BUSY = ev.Usage(
    cpu=40.0, memory_mb=512.0, cores=(0.0, 50.0, 100.0), watts=21.4,
    stages=(("ui", 3.0, 90.0), ("asr", 8.0, 96.0), ("llm", 131.0, 1214.0)),
)  # fmt: skip
GPU = ev.Usage(
    cpu=40.0, memory_mb=512.0, gpu=63.0, gpu_memory_mb=2048.0, gpu_watts=70.0, gpu_celsius=58.0, cores=(40.0,)
)


@pytest.mark.parametrize("usage", [BUSY, GPU])
@pytest.mark.parametrize("size", [(40, 8), (78, 12), (196, 46)])
def test_a_large_pane_has_graphs_within_its_bounds(usage: ev.Usage, size: tuple[int, int]) -> None:
    pane = UtilisationPane(fold([usage]))
    lines = pane.draw(pane.values, *size)
    assert all(line.cell_length <= size[0] for line in lines)
    text = "\n".join(line.plain for line in lines[: size[1]])
    for told in ("40 %", "512 MB", "core", *(["63 %", "2.0 GB", "70 W", "58 °C"] if usage is GPU else ["21 W"])):
        assert told in text
    for name, _, memory in usage.stages:
        assert name in text
        assert figures.memory(memory) in text


def test_the_energy_of_the_last_reply_is_told_until_the_next_is_known() -> None:
    pane = UtilisationPane(turn := fold([BUSY]))
    for joules, told in ((None, ""), (4.14, "4.1 J"), (None, "4.1 J"), (96.2, "96 J"), (1234.0, "1.2 kJ")):
        pane.show(turn := replace(turn, joules=joules))
        line = pane.draw(pane.values, 78, 12)[0].plain
        assert told in line
        assert (" J" in line or "kJ" in line) == bool(told)


@given(st.lists(st.floats(0, 200), max_size=30), st.integers(1, 40), st.integers(1, 9))
def test_a_graph_is_as_high_as_its_values(values: list[float], width: int, height: int) -> None:
    rows = figures.graph(values, width, height)
    assert [len(row) for row in rows] == [width] * height
    for at, value in enumerate(values[-width:]):
        column = [row[width - len(values[-width:]) + at] for row in rows]
        eighths = sum(figures.BLOCKS.index(cell) for cell in column)
        assert eighths == max(1, round(min(1.0, value / 100) * 8 * height))
        assert [cell != " " for cell in column] == sorted(cell != " " for cell in column)
