"""What a bench leaves: every item that came, told as it came, whatever stops it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.lab.bench import watch
from predtui.lab.bench.watch import Watch, clock


def numbers(until: int, then: BaseException | None = None, closed: list[int] | None = None) -> Iterator[int]:
    try:
        yield from range(until)
        if then:
            raise then
    finally:
        if closed is not None:
            closed.append(until)


def test_all_that_comes_is_gathered_and_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    work = Watch[int](3, "numbers", lambda number: f"number {number}")
    assert work(numbers(3)) == [0, 1, 2]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[-1] for line in lines] == ["number 0", "number 1", "number 2"]
    assert [line.split(",")[0] for line in lines] == ["1/3", "2/3", "3/3"]
    assert "0:00 left" in lines[-1]
    assert work.leave({"rows": []}, tmp_path / "out.json") == 0
    assert json.loads((tmp_path / "out.json").read_text()) == {"rows": [], "stopped": False}


@pytest.mark.parametrize(
    ("stop", "status"), [(KeyboardInterrupt(), 130), (KeyboardInterrupt(signal.SIGTERM), 143)], ids=["ctrl-c", "kill"]
)
def test_what_stops_it_leaves_what_came_before(
    stop: KeyboardInterrupt, status: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    work, closed = Watch[int](9, "numbers"), list[int]()
    assert work(numbers(4, stop, closed)) == [0, 1, 2, 3]
    assert closed == [4]
    assert work.leave({}, tmp_path / "out.json") == status
    assert json.loads((tmp_path / "out.json").read_text())["stopped"] is True
    assert "Stopped after 4 of 9 numbers." in capsys.readouterr().out


def test_a_fault_is_told_after_what_came_before_it_is_written(tmp_path: Path) -> None:
    fault = PredtuiError("out of order.")
    work = Watch[int](9, "numbers")
    assert work(numbers(2, fault)) == [0, 1]
    with pytest.raises(PredtuiError, match="out of order"):
        work.leave({}, tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["stopped"] is True
    with pytest.raises(PredtuiError):
        Watch[int](9, "numbers")(numbers(0, fault))


def test_items_without_a_line_are_counted_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(range(0, 1000, 10))
    monkeypatch.setattr(watch.time, "monotonic", lambda: next(now))
    Watch[int](9, "numbers")(numbers(9))
    told = capsys.readouterr().out.splitlines()
    assert told == ["3/9, 1:00 left", "6/9, 0:30 left", "9/9, 0:00 left"]


def test_time_left_is_told_as_on_a_clock() -> None:
    assert [clock(seconds) for seconds in (0.4, 65, 3605)] == ["0:00", "1:05", "1:00:05"]


BENCH = """
import sys, time
from pathlib import Path
from predtui.lab.bench.watch import Watch
def slow():
    for number in range(1000):
        yield number
        time.sleep(0.05)
work = Watch(1000, "numbers", str)
found = work(slow())
sys.exit(work.leave({"rows": found}, Path(sys.argv[1])))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_bench_that_writes_to_a_pipe_can_be_stopped_and_leaves_its_rows(number: int, tmp_path: Path) -> None:
    line = [sys.executable, "-c", BENCH, str(tmp_path / "out.json")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as bench:
        assert bench.stdout is not None
        first = bench.stdout.readline()
        os.kill(bench.pid, number)
        rest = bench.stdout.read()
        assert bench.wait(30) == 128 + number
    assert first.startswith("1/1000, ")
    assert "Stopped after" in rest
    left = json.loads((tmp_path / "out.json").read_text())
    assert left["stopped"] is True
    assert left["rows"] == list(range(len(left["rows"])))
    assert left["rows"]
