"""The latency figures: their colour says what speculation gained."""

from __future__ import annotations

import pytest

from predtui.state import events as ev
from predtui.tui.widgets.latency import LatencyPane
from predtui.tui.widgets.timeline import TimelinePane
from tests.tui.scenes import answered, fold


@pytest.mark.parametrize(("baseline_ms", "style"), [(64.0, "$success"), (0.5, "$error")])
def test_the_figures_on_screen_wear_what_speculation_gained(baseline_ms: float, style: str) -> None:
    quicker = [ev.Baseline(turn=2, revision=7, ttfs_ms=baseline_ms), ev.BaselineSpeech(turn=2, revision=7, ms=0.5)]
    timeline, latency = TimelinePane(fold([*answered(), *quicker])), LatencyPane(fold([*answered(), *quicker]))
    assert ("21 ms", style) in timeline.heading(timeline.values)
    bar = latency.draw(latency.values, 60, 9)[0].spans[-1].style
    assert bar == {"$success": ".good", "$error": ".bad"}[style]
