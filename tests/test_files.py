"""Paths that are none, files that are none, and documents that nest: one line each, and never a wait."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui import files
from predtui.errors import PredtuiError

NO_PATHS = ["~nosuchuser/x", "x" * 5000, "/" + "x/" * 5000, "a\0b", "\ud800"]
"""What no file can be called."""


@pytest.fixture(params=["pipe", "socket", "folder", "device", "absent"])
def odd(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path that names something else than a file."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "odd"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("odd")
    elif request.param == "folder":
        path.mkdir()
    elif request.param == "device":
        return Path(os.devnull)
    return path


@pytest.mark.parametrize("opened", [files.resolve, files.existing, files.regular_file, files.folder])
@pytest.mark.parametrize("named", NO_PATHS)
def test_what_is_no_path_is_one_line(opened: Callable[[str], Path], named: str) -> None:
    with pytest.raises(PredtuiError) as refused:
        opened(named)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("address", ["http://host/a.wav", "https://host:8/x/y", "file:///tmp/x.wav", "s3://bucket/x"])
def test_an_address_that_was_taken_for_a_path_is_told_with_both_its_slashes(address: str) -> None:
    """The command line makes a path of it before anybody looks."""
    for opened in (files.resolve, files.regular_file, files.folder):
        with pytest.raises(PredtuiError) as refused:
            opened(Path(address))
        assert refused.value.message == f"{address} is an address, and no file of this machine."


def test_a_folder_may_be_called_as_an_address_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "http:" / "x").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert files.folder(Path("http://x")) == Path("http:/x")


@given(st.text(max_size=40))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    for opened in (files.resolve, files.regular_file, files.folder):
        with suppress(PredtuiError):
            assert isinstance(opened(text), Path)


def test_a_file_is_told_from_what_is_none(odd: Path) -> None:
    with pytest.raises(PredtuiError, match=r"not a file|does not exist"):
        files.regular_file(odd)
    with pytest.raises((OSError, ValueError)):
        files.read_text(odd)
    if not odd.is_dir():
        with pytest.raises(PredtuiError, match=r"not a folder|does not exist"):
            files.folder(odd)


def test_a_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x").touch()
    assert files.regular_file("~/x") == tmp_path / "x"
    assert files.folder("~") == tmp_path


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 5000, "nope", "{"])
def test_json_is_read_or_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"deep|digits|Expecting"):
        files.parse_json(text)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "large").write_text("x" * 11)
    assert files.read_text(tmp_path / "large", 11) == "x" * 11
    with pytest.raises(ValueError, match="larger than 10 bytes"):
        files.read_text(tmp_path / "large", 10)


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "it.bin"
    files.replace_by(path, lambda place: place.write_bytes(b"old") and None)
    assert path.read_bytes() == b"old"

    def full(place: Path) -> None:
        place.write_bytes(b"ne")
        raise RuntimeError("No space left on device.")

    with pytest.raises(PredtuiError, match=r"it\.bin cannot be written: No space left on device\. Make room"):
        files.replace_by(path, full)
    assert [(file.name, file.read_bytes()) for file in path.parent.iterdir()] == [("it.bin", b"old")]
