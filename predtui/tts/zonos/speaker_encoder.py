"""The speaker encoder of Zonos: a recording of a voice to an embedding of 128 numbers.

A residual network with parameter-free attention (SimAM), attentive statistics pooling, and a linear discriminant
projection. Parameter names are those of the published encoder. Must not know where recordings come from.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.errors import PredtuiError
from predtui.tts.zonos.checkpoint import fill
from predtui.tts.zonos.speakers import SIZE, Embedding

RATE = 16000
"""Samples a second of what it hears."""
FILES = "ResNet293_SimAM_ASP_base.safetensors", "ResNet293_SimAM_ASP_base_LDA-128.safetensors"
BLOCKS = (10, 20, 64, 3)
PLANES = 64
MELS, FFT, WINDOW, HOP = 80, 512, 400, 160
FEATURES = 256
SHORTEST_S = 1.0
_SIMAM = 1e-4

Samples = npt.NDArray[np.float32]


class SimamBlock(nn.Module):
    """Two convolutions whose output is weighed by how much each place stands out in its channel."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        passes = stride == 1 and inputs == outputs
        shortcut = [] if passes else [nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)]
        self.downsample = nn.Sequential(*shortcut)

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu(self.bn1(self.conv1(x)))
        out: Tensor = functional.relu(simam(self.bn2(self.conv2(y))) + self.downsample(x))
        return out


def simam(x: Tensor) -> Tensor:
    """``x`` [batch, channels, height, width], each value weighed by the sigmoid of its inverse energy."""
    deviation = (x - x.mean((2, 3), keepdim=True)).pow(2)
    variance = deviation.sum((2, 3), keepdim=True) / (x.shape[2] * x.shape[3] - 1)
    return x * torch.sigmoid(deviation / (4 * (variance + _SIMAM)) + 0.5)


class Front(nn.Module):
    def __init__(self, planes: int, blocks: tuple[int, ...]) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, planes, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        inputs = planes
        for number, count in enumerate(blocks):
            outputs, stride = planes * 2**number, 2 if number else 1
            first = SimamBlock(inputs, outputs, stride)
            others = [SimamBlock(outputs, outputs, 1) for _ in range(count - 1)]
            self.add_module(f"layer{number + 1}", nn.Sequential(first, *others))
            inputs = outputs

    def forward(self, x: Tensor) -> Tensor:
        x = functional.relu(self.bn1(self.conv1(x)))
        for name, layer in self.named_children():
            x = layer(x) if name.startswith("layer") else x
        return x


class StatisticsPooling(nn.Module):
    """Mean and standard deviation over time, weighed by attention: [batch, features, time] → [batch, 2 · features]."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.attention = nn.Sequential(
            nn.Conv1d(features, 128, 1), nn.ReLU(), nn.BatchNorm1d(128), nn.Conv1d(128, features, 1), nn.Softmax(dim=2)
        )

    def forward(self, x: Tensor) -> Tensor:
        weights = self.attention(x)
        mean = (x * weights).sum(2)
        variance = (x.pow(2) * weights).sum(2) - mean.pow(2)
        return torch.cat((mean, variance.clamp(min=1e-5).sqrt()), dim=1)


class SpeakerNetwork(nn.Module):
    """Log-mel features [batch, mels, time] → [batch, 256]."""

    def __init__(self, planes: int = PLANES, blocks: tuple[int, ...] = BLOCKS) -> None:
        super().__init__()
        features = planes * 2 ** (len(blocks) - 1) * (MELS // 2 ** (len(blocks) - 1))
        self.front = Front(planes, blocks)
        self.pooling = StatisticsPooling(features)
        self.bottleneck = nn.Linear(2 * features, FEATURES)

    def forward(self, features: Tensor) -> Tensor:
        out: Tensor = self.bottleneck(self.pooling(self.front(features[:, None]).flatten(1, 2)))
        return out


class SpeakerEncoder:
    """The network with its projection to 128 dimensions."""

    def __init__(self, network: nn.Module, projection: nn.Module) -> None:
        self._network, self._projection = network.eval(), projection.eval()

    @torch.inference_mode()
    def embed(self, samples: Samples) -> Embedding:
        """The embedding [128] of a recording: ``samples`` in -1..1 at 16 kHz. Raises PredtuiError for one too short."""
        if samples.size < SHORTEST_S * RATE:
            raise PredtuiError(
                f"{samples.size / RATE:.1f} s of speech are too short to know a voice by.", "10 to 30 s are good."
            )
        embedding: Embedding = self._projection(self._network(log_mel(torch.from_numpy(samples))[None]))[0].numpy()
        return embedding


def load_encoder(folder: Path) -> SpeakerEncoder:
    """The encoder of a folder. Raises PredtuiError as ``fill`` does."""
    with torch.device("meta"):
        network, projection = SpeakerNetwork(), nn.Linear(FEATURES, SIZE)
    for part, name in zip((network, projection), FILES, strict=True):
        fill(part, folder / name, "cpu", torch.float32)
    return SpeakerEncoder(network, projection)


def log_mel(samples: Tensor) -> Tensor:
    """Log-mel energies [80, frames] of 16 kHz sound, 25 ms every 10 ms, each band without its mean."""
    spectrum = torch.stft(
        samples, FFT, HOP, WINDOW, torch.hann_window(WINDOW), center=True, pad_mode="reflect", return_complex=True
    )
    energies = (_filters() @ spectrum.abs().pow(2) + 1e-6).log()
    return energies - energies.mean(1, keepdim=True)


def _filters() -> Tensor:
    """Triangles [80, bins] with corners equally far apart on the mel scale, 2595 · log10(1 + f / 700)."""
    highest = 2595 * math.log10(1 + RATE / 2 / 700)
    corners = 700 * (10 ** (torch.linspace(0, highest, MELS + 2) / 2595) - 1)
    bins = torch.linspace(0, RATE / 2, FFT // 2 + 1)
    rising = (bins - corners[:-2, None]) / (corners[1:-1] - corners[:-2])[:, None]
    falling = (corners[2:, None] - bins) / (corners[2:] - corners[1:-1])[:, None]
    return torch.minimum(rising, falling).clamp(min=0)
