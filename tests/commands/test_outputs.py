"""What a command is to write is refused before it begins where it cannot be written, and left alone where it can."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from predtui.commands.outputs import creatable, writable
from predtui.errors import PredtuiError


def test_nothing_is_asked_of_what_is_not_written() -> None:
    assert writable(None) is None
    assert creatable(None) is None


def test_a_file_needs_a_folder_that_exists(tmp_path: Path) -> None:
    assert writable(tmp_path / "new") == tmp_path / "new"
    assert not (tmp_path / "new").exists(), "it is only looked at"
    for wrong in (tmp_path, tmp_path / "absent" / "new"):
        with pytest.raises(PredtuiError, match="cannot be written"):
            writable(wrong)


def test_a_folder_may_be_made_with_those_above_it_but_not_below_a_file(tmp_path: Path) -> None:
    assert creatable(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert not (tmp_path / "a").exists(), "it is only looked at"
    (tmp_path / "file").touch()
    for wrong in (tmp_path / "file", tmp_path / "file" / "b"):
        with pytest.raises(PredtuiError, match="cannot be written"):
            creatable(wrong)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    for check in (writable, creatable):
        with pytest.raises(PredtuiError, match="cannot be written"):
            check(tmp_path / "x")


@pytest.mark.parametrize("named", ["~nosuchuser/x", "x" * 5000, "a\0b"])
def test_what_no_file_can_be_called_is_refused(named: str) -> None:
    for check in (writable, creatable):
        with pytest.raises(PredtuiError):
            check(Path(named))


def test_a_pipe_is_not_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PredtuiError):
        writable(tmp_path / "pipe")
