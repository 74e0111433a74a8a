"""What leaves the machine, and what is left on it: nothing, but in predtui's own folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from predtui.runtime.needs import CONVERTED
from predtui.system.quiet import SWITCHES
from predtui.tts.espeak import EspeakSynthesizer

ROOT = Path(__file__).resolve().parents[2]
STAGES = {"mic", "asr", "llm", "tts", "player"}


@dataclass(frozen=True)
class Watched:
    """What the processes of one command did."""

    output: str
    notes: list[tuple[int, str, str | list[str]]]
    files: set[str]
    """All files in the home folder, the temporary folder and the others of this run, relative to their parent."""

    def of(self, *events: str) -> list[str | list[str]]:
        return [what for _, event, what in self.notes if event in events]


@pytest.fixture
def watched(tmp_path: Path) -> Callable[..., Watched]:
    """Runs Python with folders of its own for everything, each of its processes watched by an audit hook."""

    def run(*arguments: str) -> Watched:
        place = tmp_path / "place"
        for name in ("home", "temporary", "here"):
            (place / name).mkdir(parents=True)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(place / "home"),
            "TMPDIR": str(place / "temporary"),
            "PREDTUI_CONFIG_DIR": str(place / "config"),
            "PREDTUI_STATE_DIR": str(place / "state"),
            "PREDTUI_CACHE_DIR": str(place / "cache"),
            "PREDTUI_EMBEDDED": "1",
            "PREDTUI_AUDIO_INPUT": "none",
            "PREDTUI_AUDIO_OUTPUT": "none",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests" / "watch")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WATCHED": str(tmp_path / "notes"),
        }
        done = subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            cwd=place / "here",
            capture_output=True,
            text=True,
            timeout=180,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        notes = [tuple(json.loads(line)) for line in (tmp_path / "notes").read_text().splitlines()]
        files = {str(path.relative_to(place)) for path in place.rglob("*") if not path.is_dir()}
        return Watched(done.stdout, notes, files)

    return run


def spoken(words: str, path: Path) -> Path:
    voice = EspeakSynthesizer("en-us")
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, voice.rate, 0, "NONE", ""))
        file.writeframes(b"".join(voice.synthesize(words)))
    voice.close()
    return path


def test_a_spoken_turn_connects_to_nothing_and_writes_its_log_and_what_it_found_out(
    watched: Callable[..., Watched], tmp_path: Path
) -> None:
    question = spoken("what is the capital of france", tmp_path / "question.wav")
    seen = watched("-m", "predtui", "turn", "--wav", str(question))
    assert "after the input" in seen.output, "a turn was taken, whatever the recogniser made of a synthetic voice"
    assert {command[-1] for command in seen.of("started")} >= STAGES, "every stage is watched"
    assert all(command[0] == sys.executable for command in seen.of("subprocess.Popen")), "nothing else is started"
    assert seen.of("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind") == []
    state = tmp_path / "place" / "state"
    written = {Path(str(what)) for what in seen.of("open", "os.mkdir", "os.rename", "sqlite3.connect")}
    elsewhere = {
        path for path in written if path.is_absolute() and not path.is_relative_to(tmp_path / "place" / "cache")
    }
    own = {state, state / "predtui.log", state / CONVERTED, state / "learnt"}
    assert {path for path in elsewhere if path.parts[1] not in ("dev", "proc")} <= own
    found = {"cache/exactness.json", "cache/costs.json"}
    assert seen.files == {"state/predtui.log", *found}, "once, what this processor was found to compute, and how fast"


def test_every_import_of_predtui_sets_the_switches_first(watched: Callable[..., Watched]) -> None:
    """Whatever they stood at before; a library that is imported through any of predtui's modules finds them set."""
    code = "import os, predtui.state.events, json; print(json.dumps(dict(os.environ)))"
    environment = json.loads(watched("-c", code).output)
    assert environment.items() >= SWITCHES.items()


def test_the_voice_detector_leaves_nothing_behind(watched: Callable[..., Watched]) -> None:
    seen = watched("-c", "from predtui.audio.vad import Silero; Silero(); import time; time.sleep(0.5)")
    assert seen.files == set()


def test_a_yes_to_a_download_reaches_the_library(watched: Callable[..., Watched]) -> None:
    code = (
        "import sys; from predtui.system.quiet import allow_download; {};"
        "from huggingface_hub.constants import HF_HUB_OFFLINE, HF_HUB_DISABLE_TELEMETRY;"
        "print(HF_HUB_OFFLINE, HF_HUB_DISABLE_TELEMETRY)"
    )
    assert watched("-c", code.format("allow_download()")).output.split() == ["False", "True"]


def test_without_a_yes_the_library_stays_offline(watched: Callable[..., Watched]) -> None:
    code = "import predtui; from huggingface_hub.constants import HF_HUB_OFFLINE; print(HF_HUB_OFFLINE)"
    assert watched("-c", code).output.split() == ["True"]
