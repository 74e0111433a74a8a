"""The speaker encoder: its layout, its features, its attention; and the command that adds a voice with it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from typer.testing import CliRunner

from predtui.commands.cli import app
from predtui.errors import PredtuiError
from predtui.tts.zonos import speaker_encoder, speakers
from predtui.tts.zonos.speaker_encoder import RATE, SpeakerNetwork, load_encoder, log_mel, simam
from tests.audio.sounds import encode, tone, write_wav

PLANES, BLOCKS = 2, (1, 1, 2, 1)


def normal(*shape: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).normal(size=shape)).float()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An encoder with random weights, as narrow as can be, in the published layout."""
    monkeypatch.setattr(speaker_encoder, "PLANES", PLANES)
    monkeypatch.setattr(speaker_encoder, "BLOCKS", BLOCKS)
    monkeypatch.setattr(SpeakerNetwork.__init__, "__defaults__", (PLANES, BLOCKS))
    monkeypatch.setenv("PREDTUI_CONFIG_DIR", str(tmp_path / "config"))
    torch.manual_seed(0)
    parts = SpeakerNetwork(), torch.nn.Linear(256, 128)
    folder = tmp_path / "encoder"
    folder.mkdir()
    for part, name in zip(parts, speaker_encoder.FILES, strict=True):
        save_file(part.state_dict(), folder / name)
    return folder


def test_the_published_names_and_shapes() -> None:
    with torch.device("meta"):
        state = {name: tuple(tensor.shape) for name, tensor in SpeakerNetwork().state_dict().items()}
    assert state["front.layer3.63.conv2.weight"] == (256, 256, 3, 3)
    assert state["front.layer2.0.downsample.1.running_mean"] == (128,)
    assert "front.layer1.0.downsample.0.weight" not in state
    assert state["pooling.attention.3.weight"] == (5120, 128, 1)
    assert state["bottleneck.weight"] == (256, 10240)


def test_simam_weighs_by_inverse_energy() -> None:
    x = normal(1, 2, 3, 4)
    channel = x[0, 1].flatten().tolist()
    mean = sum(channel) / 12
    variance = sum((value - mean) ** 2 for value in channel) / 11
    energies = [(value - mean) ** 2 / (4 * (variance + 1e-4)) + 0.5 for value in channel]
    weighed = [value / (1 + math.exp(-energy)) for value, energy in zip(channel, energies, strict=True)]
    assert simam(x)[0, 1].flatten().tolist() == pytest.approx(weighed, abs=1e-6)


@pytest.mark.parametrize("hertz", [300.0, 1000.0, 4000.0])
def test_a_tone_is_loudest_in_its_own_band(hertz: float) -> None:
    sound = torch.from_numpy(np.concatenate([tone(hertz, 0.5), np.zeros(RATE // 2)]).astype(np.float32))
    mel = log_mel(sound)
    assert mel.shape == (80, 101)
    band = int((mel[:, :40].mean(1) - mel[:, 60:].mean(1)).argmax())
    top = 2595 * math.log10(1 + 8000 / 700)
    assert band == pytest.approx(2595 * math.log10(1 + hertz / 700) / top * 81 - 1, abs=1.0)
    assert mel.mean(1).abs().max() < 1e-3


def test_an_embedding_depends_on_the_voice_not_on_its_loudness(folder: Path) -> None:
    encoder = load_encoder(folder)
    sounds = [np.concatenate([tone(hertz, 0.7) for hertz in each]) for each in ((200, 900), (2500, 400))]
    one, other = (encoder.embed(sound.astype(np.float32)) for sound in sounds)
    assert one.shape == (128,)
    quiet = encoder.embed((sounds[0] / 2).astype(np.float32))
    assert np.linalg.norm(quiet - one) < np.linalg.norm(other - one) / 2


def test_a_recording_too_short_is_told(folder: Path) -> None:
    with pytest.raises(PredtuiError, match=r"0\.5 s of speech are too short"):
        load_encoder(folder).embed(np.zeros(RATE // 2, np.float32))


def test_a_voice_is_added_by_the_command(folder: Path, tmp_path: Path) -> None:
    wav = write_wav(tmp_path / "ann.wav", encode([tone(200, 2.0, 8000)], "s16"), 8000, 1, 16)
    told = CliRunner().invoke(app, ["voices", "add", "ann", str(wav), "--tts-encoder", str(folder)])
    assert told.exit_code == 0, told.output
    assert "--tts-speaker ann" in told.output
    assert speakers.load("ann").shape == (128,)
    assert CliRunner().invoke(app, ["voices", "list"]).output == "ann\n"


def test_without_the_encoder_the_command_says_what_is_missing(folder: Path, tmp_path: Path) -> None:
    (folder / speaker_encoder.FILES[1]).unlink()
    (folder / "ResNet293_SimAM_ASP_base.pt").touch()
    (tmp_path / "ann.wav").touch()
    told = CliRunner().invoke(app, ["voices", "add", "ann", str(tmp_path / "ann.wav"), "--tts-encoder", str(folder)])
    assert isinstance(told.exception, PredtuiError)
    assert "pickles" in str(told.exception)
