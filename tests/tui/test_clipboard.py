"""What is copied reaches the terminal: by OSC 52, and through a tmux that lets none pass."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from predtui.tui import clipboard

TEXT = "Ça va: 日本\nand\ta second line " * 50


@pytest.fixture
def tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The socket of a server with its usual settings; this process runs in it."""
    socket = tmp_path / "tmux"
    command = ["tmux", "-S", str(socket), "-f", os.devnull]
    subprocess.run([*command, "new-session", "-d", "sleep 600"], check=True)
    monkeypatch.setenv("TMUX", f"{socket},0,0")
    yield socket
    subprocess.run([*command, "kill-server"], check=True)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_tmux_keeps_what_is_copied_and_passes_it_on(tmux: Path) -> None:
    sent: list[str] = []
    clipboard.send(TEXT, sent.append)
    command = ["tmux", "-S", str(tmux)]
    kept = subprocess.run([*command, "show-buffer"], capture_output=True, check=True).stdout.decode()
    assert kept == TEXT
    assert sent == []
    settings = subprocess.run([*command, "show-options", "-s", "set-clipboard"], capture_output=True, check=True).stdout
    assert settings.split() == [b"set-clipboard", b"external"]  # with which the program's own OSC 52 would be lost


@pytest.mark.skipif(os.name != "posix", reason="a program without an ending")
@pytest.mark.parametrize("tmux", ["exit 1", "", "exec sleep 600"])
def test_where_tmux_does_not_take_it_the_terminal_is_asked(
    tmux: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tmux:
        program = tmp_path / "tmux"
        program.write_text(f"#!/bin/sh\n{tmux}\n")
        program.chmod(0o755)
    monkeypatch.setenv("TMUX", "/nowhere,0,0")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin" if tmux else str(tmp_path))
    monkeypatch.setattr(clipboard, "PATIENCE_S", 0.2)
    sent: list[str] = []
    clipboard.send(TEXT, sent.append)
    assert sent == [TEXT]
