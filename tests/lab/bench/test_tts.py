"""The bench of voices: a row for each that is here, a line for each that is not, and the first that keeps up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from predtui.lab.bench import tts
from predtui.lab.bench.tts import Cost
from predtui.settings import TtsSettings
from tests.models.homes import alone
from tests.tts import onnx_voices


def test_each_voice_that_is_here_gets_its_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    alone(monkeypatch, tmp_path / "home")
    out = tmp_path / "tts.json"
    options = TtsSettings(engine="kokoro", model=str(onnx_voices.kokoro(tmp_path / "kokoro")))
    assert tts.main(options, 1, out) == 0
    rows = json.loads(out.read_text())["rows"]
    assert [row["engine"] for row in rows] == ["espeak", "kokoro"]
    assert all(row[name] > 0 for row in rows for name in ("first_ms", "real_time_factor", "memory_mb"))
    told = capsys.readouterr().out
    assert "predtui models pull supertonic-3" in told
    assert "keeps up" in told


def test_the_first_neural_voice_that_keeps_up_is_proposed() -> None:
    slow, fast = Cost("kokoro", "Kokoro", 900, 1.4, 500), Cost("piper", "Piper", 40, 0.1, 100)
    default = Cost("espeak", "espeak", 1, 0.001, 5)
    assert tts.proposal([default, slow, fast]) == "Piper keeps up on this machine: --tts piper"
    assert tts.proposal([default, slow]) == "No neural voice that is here keeps up: --tts espeak"
