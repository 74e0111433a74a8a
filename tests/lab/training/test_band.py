"""The network of upper bands: learns what can be learned, and is read as it was written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from predtui.asr.whisperflow.band import CONTEXT, find, first_band, surroundings
from predtui.asr.whisperflow.mel import log_mel
from predtui.lab.bench.asr_sounds import Recording
from predtui.lab.training.band import BandOptions, examples, learn, mu_law, narrowed, write

MELS = 80
LOWER = first_band(MELS)


def test_what_follows_from_the_lower_bands_is_learned_and_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lower = rng.uniform(-0.5, 0.0, (LOWER, 400)).astype(np.float32)
    upper = np.repeat(lower[:1] - 1.2, MELS - LOWER, axis=0)
    given, wanted = torch.from_numpy(surroundings(lower)), torch.from_numpy(upper.T.copy())
    errors: list[float] = []
    options = BandOptions(hidden=16, epochs=30, batch=50, rate=1e-2)
    net = learn(given, wanted, options, lambda epoch, error: errors.append(error))
    assert len(errors) == 30
    assert errors[-1] < 0.1 * errors[0]
    write(net, tmp_path)
    widening = find(tmp_path, MELS)
    assert widening is not None
    mel = np.concatenate([lower, np.full_like(upper, -3.0)])
    with torch.no_grad():
        guessed = net(given).numpy().T
    assert np.allclose(widening(mel)[LOWER:], np.clip(guessed, mel.max() - 2, mel.max()), atol=0.02)


def test_a_line_takes_the_upper_bands_alone() -> None:
    seconds = np.arange(16_000) / 16_000
    low, high = (np.sin(2 * np.pi * hertz * seconds).astype(np.float32) for hertz in (500, 6000))
    for through in (narrowed(0.3 * (low + high)), narrowed(0.3 * (low + high), mu_law)):
        assert len(through) == 16_000
        assert np.corrcoef(through[2000:14000], low[2000:14000])[0, 1] > 0.99
    assert np.abs(narrowed(0.3 * high)[2000:14000]).max() < 0.01


def test_examples_pair_frames_with_what_they_lack() -> None:
    sound = Recording((0.1 * np.random.default_rng(0).standard_normal(8000)).astype(np.float32), "")
    given, wanted = examples([sound], MELS)
    assert given.shape == (50, LOWER * (2 * CONTEXT + 1))
    assert np.array_equal(wanted.numpy(), log_mel(sound.samples)[LOWER:].T)
