"""Splits of the CPU's threads: every one that the cores allow, each once."""

from __future__ import annotations

import pytest

from predtui.lab.bench.asr_calibrate import EXCHANGES, splits


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_splits_use_no_more_than_the_cores_and_leave_one_to_the_writer(cores: int) -> None:
    found = splits(cores)
    assert len(set(found)) == len(found)
    assert [one.threads for one in found if not one.pipelined] == list(range(1, cores + 1))
    pipelined = [one for one in found if one.pipelined]
    assert {one.exchange for one in pipelined} == set(EXCHANGES)
    assert max(one.threads for one in pipelined) == max(1, cores - 1)
