"""``predtui train band``: the network that guesses the upper bands of a telephone's sound (``asr.whisperflow.band``).

Wide speech and the same speech through a telephone, frame by frame; the squared error of the upper log-mel bands. Must
not know who hears the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from predtui.asr.whisperflow.band import BAND, first_band, surroundings
from predtui.asr.whisperflow.mel import Samples, log_mel
from predtui.audio.resample import RATE, Resampler, to_float, to_pcm
from predtui.lab.bench.asr_sounds import Recording

TELEPHONE = 8_000
MU = 255.0
Line = Callable[[Samples], Samples]


@dataclass(frozen=True, slots=True)
class BandOptions:
    """``rate``: the highest learning rate, of one cycle."""

    hidden: int = 192
    epochs: int = 10
    batch: int = 512
    rate: float = 2e-3
    seed: int = 0


def narrowed(samples: Samples, through: Line = lambda samples: samples) -> Samples:
    """``samples`` as they come out of a line of 8000 samples a second."""

    def resampled(given: Samples, source: int, target: int) -> Samples:
        resampler = Resampler(source, target)
        return to_float(resampler.process(to_pcm(given)) + resampler.flush())

    return resampled(through(resampled(samples, RATE, TELEPHONE)), TELEPHONE, RATE)


def mu_law(samples: Samples) -> Samples:
    """Coded in 8 bits and decoded (ITU-T G.711)."""
    code = np.round(np.sign(samples) * np.log1p(MU * np.abs(samples)) / np.log1p(MU) * 127) / 127
    decoded: npt.NDArray[np.floating] = np.sign(code) * np.expm1(np.abs(code) * np.log1p(MU)) / MU
    return decoded.astype(np.float32)


def examples(sounds: Sequence[Recording], mels: int) -> tuple[Tensor, Tensor]:
    """Surroundings of the frames of narrowed sounds, every third of them coded, and the upper bands that they lack."""
    band = first_band(mels)
    given, wanted = [], []
    for number, sound in enumerate(sounds):
        narrow = log_mel(narrowed(sound.samples, mu_law) if number % 3 == 0 else narrowed(sound.samples), mels)
        wide = log_mel(sound.samples, mels)
        count = min(narrow.shape[1], wide.shape[1])
        given.append(surroundings(narrow[:band])[:count])
        wanted.append(wide[band:, :count].T)
    return torch.from_numpy(np.concatenate(given)), torch.from_numpy(np.concatenate(wanted))


def learn(given: Tensor, wanted: Tensor, options: BandOptions, tell: Callable[[int, float], None]) -> nn.Sequential:
    """The network; ``tell`` gets the number of each epoch and its mean squared error."""
    torch.manual_seed(options.seed)
    net = nn.Sequential(
        nn.Linear(given.shape[1], options.hidden), nn.GELU("tanh"), nn.Linear(options.hidden, wanted.shape[1])
    )
    steps = options.epochs * -(-len(given) // options.batch)
    optimizer = torch.optim.AdamW(net.parameters(), options.rate)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, total_steps=steps)
    for epoch in range(options.epochs):
        total = 0.0
        for rows in torch.randperm(len(given)).split(options.batch):  # type: ignore[no-untyped-call]
            loss = nn.functional.mse_loss(net(given[rows]), wanted[rows])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            cycle.step()
            total += float(loss.detach()) * len(rows)
        tell(epoch + 1, total / len(given))
    return net


def write(net: nn.Sequential, folder: Path) -> Path:
    """The network as ``asr.whisperflow.band.find`` reads it, in 16 bits."""
    names = ("inner", "inner_bias", "outer", "outer_bias")
    parts = {name: part.detach().half().contiguous() for name, part in zip(names, net.parameters(), strict=True)}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(parts, str(folder / BAND))
    return folder / BAND
