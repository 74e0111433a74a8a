"""The figures that every decoder keeps."""

from __future__ import annotations

from predtui.decoding.base import DecodingStatistics


def test_rates_of_statistics() -> None:
    statistics = DecodingStatistics()
    assert (statistics.acceptance_rate, statistics.tokens_per_forward) == (0.0, 0.0)
    statistics.count(proposed=4, accepted=3, tokens=4)
    statistics.count(proposed=2, accepted=0, tokens=1)
    assert (statistics.acceptance_rate, statistics.tokens_per_forward) == (0.5, 2.5)
    assert statistics.last == (2, 0)
