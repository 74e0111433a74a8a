"""Descript's audio codec (DAC), decoder side: frames of nine codes to samples, in pieces that join without a seam.

A piece is decoded with as many frames around it as its samples depend on, so that it equals the same stretch of one
decode of all frames. Must not know where codes come from.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from predtui.errors import PredtuiError
from predtui.tts.zonos.checkpoint import WEIGHTS, fill, find
from predtui.tts.zonos.config import CODEBOOKS, CODES

LOUDEST = 32767
"""Of a 16-bit sample."""


class Codec:
    """A ``DacModel`` of transformers in evaluation mode."""

    def __init__(self, network: Any) -> None:
        """Raises PredtuiError for a codec of another shape than Zonos speaks."""
        config = network.config
        if (config.n_codebooks, config.codebook_size) != (CODEBOOKS, CODES) or any(
            ratio % 2 for ratio in config.upsampling_ratios
        ):
            raise PredtuiError(
                f"This codec has {config.n_codebooks} codebooks of {config.codebook_size} and ratios "
                f"{list(config.upsampling_ratios)}; Zonos speaks to {CODEBOOKS} of {CODES} with even ratios.",
                "Give tts.codec descript/dac_44khz.",
            )
        self.network = network
        self.rate: int = config.sampling_rate
        self.hop: int = config.hop_length
        """Samples per frame."""
        self.context = _context(network.decoder)

    def decode(self, codes: Tensor) -> Tensor:
        """Samples [frames * hop] in -1..1 of ``codes`` [9, frames]. Raises RuntimeError for want of memory."""
        device = self.network.decoder.conv1.weight.device
        samples: Tensor = self.network.decode(audio_codes=codes[None].to(device)).audio_values[0]
        return samples

    def between(self, codes: Tensor, start: int, stop: int) -> Tensor:
        """Samples of frames ``start`` to ``stop`` as in ``decode(codes)``, computed from the frames around them only.
        Raises as ``decode`` does."""
        low, high = max(0, start - self.context), min(codes.shape[1], stop + self.context)
        return self.decode(codes[:, low:high])[(start - low) * self.hop : (stop - low) * self.hop]


def load_codec(name: str, device: str, dtype: torch.dtype = torch.float32) -> Codec:
    """The codec in the folder ``name``, or under that name in the local hub cache. Raises PredtuiError where it is not
    there, damaged, or of another shape."""
    from transformers import DacConfig, DacModel

    folder = find(name, "config.json", WEIGHTS)
    try:
        with torch.device("meta"):
            network = DacModel(DacConfig.from_pretrained(folder, local_files_only=True))
    except Exception as error:
        raise PredtuiError(f"{folder} is no DAC codec: {error}.", "Give tts.codec descript/dac_44khz.") from error
    fill(network, folder / WEIGHTS, device, dtype)
    return Codec(network)


def pcm(samples: Tensor) -> bytes:
    """Mono 16-bit little-endian PCM of samples in -1..1."""
    whole = (samples.clamp(-1, 1) * LOUDEST).round().to(torch.int16)
    return whole.cpu().numpy().astype("<i2").tobytes()


def _context(decoder: Any) -> int:
    """Frames on either side that the samples of a frame can depend on: the receptive field, from the output back."""
    reach = _reach(decoder.conv2)
    for block in reversed(decoder.block):
        reach += sum(
            _reach(unit.conv1) + _reach(unit.conv2) for unit in (block.res_unit1, block.res_unit2, block.res_unit3)
        )
        upward = block.conv_t1
        reach = -(-(reach + upward.kernel_size[0] - 1 - upward.padding[0]) // upward.stride[0])
    return reach + _reach(decoder.conv1)


def _reach(convolution: Any) -> int:
    """Inputs on either side that one output sees."""
    reach: int = (convolution.kernel_size[0] - 1) * convolution.dilation[0] // 2
    return reach
