"""What the doctor says of the machine: a fault is a finding with its remedy, never an exception."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from predtui.commands.checks import machine
from predtui.commands.checks.finding import package_finding
from predtui.settings import AudioSettings, SessionsSettings, Settings
from predtui.state.exchange import Exchange
from predtui.state.kept import kept_file
from predtui.system import energy
from tests.state.kept.test_store import said
from tests.system.test_energy import zone


def test_a_log_folder_that_cannot_be_made_is_broken_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PREDTUI_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path / "file" / "logs"))
    settings, folder = machine.settings(Settings())
    assert "defaults" in settings.detail
    assert (folder.state, "PREDTUI_STATE_DIR" in folder.remedy) == ("broken", True)
    (tmp_path / "settings.toml").touch()
    monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path / "logs"))
    settings, folder = machine.settings(Settings())
    assert settings.detail == str(tmp_path / "settings.toml")
    assert folder.state == "found"


@pytest.mark.parametrize(("columns", "small"), [(79, True), (80, False)])
def test_a_small_window_is_found_and_said_to_be_small(
    columns: int, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((columns, 24)))
    (finding,) = machine.terminal(Settings())
    assert (finding.state, bool(finding.remedy)) == ("found", small)


def test_conversations_are_counted_with_their_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PREDTUI_DATA_DIR", str(tmp_path))
    (nothing,) = machine.conversations(Settings())
    assert (nothing.state, str(kept_file()) in nothing.detail) == ("found", True)
    assert not kept_file().exists()
    said(kept_file(), [Exchange("a", "b")], [Exchange("c", "d")])
    (two,) = machine.conversations(Settings())
    assert two.detail.startswith("2 kept")
    (private,) = machine.conversations(Settings(sessions=SessionsSettings(private=True)))
    assert (private.state, "sessions.private" in private.detail) == ("missing", True)
    kept_file().write_bytes(b"of no use" * 999)
    (broken,) = machine.conversations(Settings())
    assert (broken.state, "Move it away" in broken.remedy) == ("broken", True)


def test_devices_that_are_switched_off_say_how_to_switch_them_on() -> None:
    findings = list(machine.sound(Settings(audio=AudioSettings(input="none", output="none"))))
    assert [finding.detail for finding in findings] == ["switched off"] * 2
    assert ["audio.input" in findings[0].remedy, "audio.output" in findings[1].remedy] == [True, True]


def test_a_package_is_found_with_its_version_or_missing_with_a_remedy() -> None:
    assert package_finding("textual", "textual", "textual").state == "found"
    lacking = package_finding("x", "no-such-thing", "no_such_thing", needed=True)
    assert (lacking.state, lacking.remedy, lacking.needed) == ("missing", "pip install no-such-thing", True)


def test_energy_that_may_not_be_read_is_said_to_be_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(energy, "_zones", lambda _: [tmp_path / "intel-rapl:0"])
    zone(tmp_path, "intel-rapl:0", 1.0)
    assert [finding.state for finding in machine.energy(Settings())] == ["found"]
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    (finding,) = machine.energy(Settings())
    assert (finding.state, "root alone" in finding.detail, "sudo chmod" in finding.remedy) == ("missing", True, True)
    monkeypatch.setattr(energy, "_zones", lambda _: [])
    (finding,) = machine.energy(Settings())
    assert (finding.state, finding.detail.startswith("no counters")) == ("missing", True)
