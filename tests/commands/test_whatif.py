"""``predtui whatif`` as a person runs it: on the example that ships, and on what is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from predtui.models.shipped import asset
from tests.commands.test_cli import run  # noqa: F401 (a fixture)


def test_the_example_is_asked_again_with_another_verifier(run: Any) -> None:  # noqa: F811
    done = run("whatif", str(asset("sessions", "example")), "--verifier", "top3", "--tts", "none")
    assert done.returncode == 0, done.stderr
    assert "turn 1: what is the capital of france" in done.stdout
    assert "top3, lossy" in done.stdout
    assert done.stdout.count("▲ end of input") == 2
    assert "The repl" in done.stdout
    assert "does not say on which machine" in done.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--turn", "9"], "no turn 9 was asked to its end here. It has turns 1."),
        (["--verifier", "top0"], "'top0' is not one of greedy"),
    ],
)
def test_what_there_is_not_is_one_line(run: Any, options: list[str], says: str) -> None:  # noqa: F811
    done = run("whatif", str(asset("sessions", "example")), *options)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_no_recording_is_one_line(run: Any, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "session.jsonl").write_text("dear diary\n")
    done = run("whatif", str(tmp_path))
    assert done.returncode == 2
    assert "is no recorded session" in done.stderr
