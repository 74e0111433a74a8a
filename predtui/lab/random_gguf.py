"""GGUF files with random weights in published layouts, of any size: what computing costs, and whether a cache is right,
needs no sense.

Must not know what is measured or tested with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIAL = ("<|end|>", "<|im_start|>", "<|im_end|>")
_BLOCK, _TYPICAL = 32, 73.6
"""Weights of a block of Q8_0, and the standard deviation of a random one before it is scaled."""
_SPREAD = 1.5
"""Of a matrix's output, where its input has 1: less, and a network says the same whatever it is asked."""


@dataclass(frozen=True, slots=True)
class Shape:
    """``family``: the architecture's name in the file. ``width``: of a head of attention. ``window``: tokens that every
    other layer of attention sees, 0 for all. ``state``: numbers that a state has for each of its channels; ``inner``:
    channels. ``words``: tokens beside bytes and marks. ``whole``: 16 bits a weight, else 8."""

    family: str = "llama"
    hidden: int = 32
    layers: int = 2
    feed_forward: int = 48
    heads: int = 2
    kv_heads: int = 2
    width: int = 16
    window: int = 0
    inner: int = 64
    state: int = 16
    words: int = 0
    context: int = 1024
    whole: bool = True


SIZES = {
    "llama": Shape("llama", 896, 24, 4864, 14, 2, 64, words=151_600, context=32_768, whole=False),
    "lfm2": Shape("lfm2", 1024, 16, 4608, 16, 8, 64, words=65_200, context=32_768, whole=False),
    "falcon-h1": Shape("falcon-h1", 1024, 36, 2048, 8, 2, 64, 0, 1536, 128, 32_400, 32_768, whole=False),
    "mamba": Shape("mamba", 1024, 48, 0, 0, 0, 0, 0, 2048, 16, 50_000, 32_768, whole=False),
}
"""About those of Qwen2.5-0.5B, LFM2-350M, Falcon-H1-0.5B and Mamba-370M."""


def write(path: Path, shape: Shape, seed: int = 0, words: Sequence[str] = ()) -> Path:
    """The file, with a token of its own for each of ``words``, which are in letters of ASCII, where there is room for
    them. Raises OSError where it cannot be written."""
    network = _Network(gguf.GGUFWriter(str(path), shape.family), shape, np.random.default_rng(seed))
    network.describe()
    size = _vocabulary(network.writer, [*dict.fromkeys(words)], shape.words)
    network.matrix("token_embd.weight", size, shape.hidden, 1.0)
    network.ones("token_embd_norm.weight" if shape.family == "lfm2" else "output_norm.weight", shape.hidden)
    for layer in range(shape.layers):
        LAYERS[shape.family](network, f"blk.{layer}.", layer)
    network.writer.write_header_to_file()
    network.writer.write_kv_data_to_file()
    network.writer.write_tensors_to_file()
    network.writer.close()
    return path


class _Network:
    """Adds tensors of a shape to a file."""

    def __init__(self, writer: gguf.GGUFWriter, shape: Shape, rng: np.random.Generator) -> None:
        self.writer, self.shape, self._rng = writer, shape, rng

    def describe(self) -> None:
        """What the file says of the network."""
        writer, shape = self.writer, self.shape
        writer.add_context_length(shape.context)
        writer.add_embedding_length(shape.hidden)
        writer.add_block_count(shape.layers)
        writer.add_feed_forward_length(shape.feed_forward)
        writer.add_head_count(shape.heads)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_head_count_kv(
            [shape.kv_heads * attends(shape, layer) for layer in range(shape.layers)]
            if shape.family == "lfm2"
            else shape.kv_heads
        )
        if shape.width:
            writer.add_key_length(shape.width)
            writer.add_value_length(shape.width)
            writer.add_rope_dimension_count(shape.width)
        if shape.window:
            writer.add_sliding_window(shape.window)
        self._describe_state()

    def _describe_state(self) -> None:
        writer, shape = self.writer, self.shape
        if shape.family == "lfm2":
            writer.add_shortconv_l_cache(3)
        elif shape.family in ("mamba", "falcon-h1", "qwen35"):
            writer.add_ssm_conv_kernel(4)
            writer.add_ssm_inner_size(shape.inner)
            writer.add_ssm_state_size(shape.state)
            writer.add_ssm_time_step_rank(self.ranks)
        if shape.family in ("falcon-h1", "qwen35"):
            writer.add_ssm_group_count(1 if shape.family == "falcon-h1" else self.ranks)
        if shape.family == "qwen35":
            writer.add_full_attention_interval(2)
            writer.add_rope_dimension_sections([shape.width // 8] * 3 + [shape.width // 8])

    @property
    def ranks(self) -> int:
        """Heads of the state, or the rank of its steps."""
        shape = self.shape
        return {"mamba": shape.hidden // 16, "falcon-h1": shape.inner // 64 or 1}.get(
            shape.family, shape.inner // shape.state
        )

    def matrix(self, name: str, rows: int, columns: int, spread: float = 0.0) -> None:
        """``spread``: standard deviation of a weight, else such that outputs have about ``_SPREAD``."""
        spread = spread or _SPREAD / columns**0.5
        if self.shape.whole or columns % _BLOCK:
            self.writer.add_tensor(name, self._normal(spread, rows, columns).astype(np.float16))
            return
        blocks = np.zeros((rows, columns // _BLOCK, 2 + _BLOCK), np.uint8)
        blocks[:, :, :2] = np.frombuffer(np.float16(spread / _TYPICAL).tobytes(), np.uint8)
        blocks[:, :, 2:] = self._rng.integers(0, 255, (rows, columns // _BLOCK, _BLOCK), np.uint8) + 129
        data = blocks.reshape(rows, -1)
        self.writer.add_tensor(name, data, raw_dtype=gguf.GGMLQuantizationType.Q8_0)

    def ones(self, name: str, *shape: int) -> None:
        self.writer.add_tensor(name, np.ones(shape, np.float32))

    def numbers(self, name: str, *shape: int, middle: float = 0.0, spread: float = 0.1) -> None:
        """Random ones around ``middle``, in 32 bits."""
        self.writer.add_tensor(name, middle + self._normal(spread, *shape))

    def attention(self, block: str, doubled: int = 1) -> None:
        """``doubled``: queries for each head, where one of two is a gate."""
        shape = self.shape
        for name, heads in (("q", shape.heads * doubled), ("k", shape.kv_heads), ("v", shape.kv_heads)):
            self.matrix(f"{block}attn_{name}.weight", heads * shape.width, shape.hidden)
        self.matrix(f"{block}attn_output.weight", shape.hidden, shape.heads * shape.width)

    def head_norms(self, block: str) -> None:
        for name in ("attn_q_norm", "attn_k_norm"):
            self.ones(f"{block}{name}.weight", self.shape.width)

    def feed_forward(self, block: str) -> None:
        shape = self.shape
        for name in ("ffn_gate", "ffn_up"):
            self.matrix(f"{block}{name}.weight", shape.feed_forward, shape.hidden)
        self.matrix(f"{block}ffn_down.weight", shape.hidden, shape.feed_forward)

    def norms(self, block: str, *names: str) -> None:
        for name in names:
            self.ones(f"{block}{name}", self.shape.hidden)

    def _normal(self, spread: float, *shape: int) -> npt.NDArray[np.float32]:
        return self._rng.standard_normal(shape, np.float32) * np.float32(spread)


def attends(shape: Shape, layer: int) -> bool:
    """Whether a layer of a hybrid has attention: every other one."""
    return layer % 2 == 1


def _llama(network: _Network, block: str, layer: int) -> None:
    network.norms(block, "attn_norm.weight", "ffn_norm.weight")
    network.attention(block)
    network.feed_forward(block)


def _gemma2(network: _Network, block: str, layer: int) -> None:
    network.norms(block, "attn_norm.weight", "ffn_norm.weight", "post_attention_norm.weight", "post_ffw_norm.weight")
    network.attention(block)
    network.feed_forward(block)


def _lfm2(network: _Network, block: str, layer: int) -> None:
    hidden = network.shape.hidden
    network.norms(block, "attn_norm.weight", "ffn_norm.weight")
    network.feed_forward(block)
    if attends(network.shape, layer):
        network.attention(block)
        network.head_norms(block)
        return
    network.numbers(f"{block}shortconv.conv.weight", hidden, 3, spread=0.6)
    network.matrix(f"{block}shortconv.in_proj.weight", 3 * hidden, hidden)
    network.matrix(f"{block}shortconv.out_proj.weight", hidden, hidden)


def _mamba(network: _Network, block: str, layer: int) -> None:
    shape, ranks = network.shape, network.ranks
    network.norms(block, "attn_norm.weight")
    network.matrix(f"{block}ssm_in.weight", 2 * shape.inner, shape.hidden)
    network.numbers(f"{block}ssm_conv1d.weight", shape.inner, 4, spread=0.5)
    network.numbers(f"{block}ssm_conv1d.bias", shape.inner)
    network.matrix(f"{block}ssm_x.weight", ranks + 2 * shape.state, shape.inner)
    network.matrix(f"{block}ssm_dt.weight", shape.inner, ranks)
    network.numbers(f"{block}ssm_dt.bias", shape.inner)
    network.numbers(f"{block}ssm_a", shape.inner, shape.state, middle=-1.0)
    network.ones(f"{block}ssm_d", shape.inner)
    network.matrix(f"{block}ssm_out.weight", shape.hidden, shape.inner)


def _falcon_h1(network: _Network, block: str, layer: int) -> None:
    shape, heads = network.shape, network.ranks
    channels = shape.inner + 2 * shape.state
    network.norms(block, "attn_norm.weight", "ffn_norm")
    network.matrix(f"{block}ssm_in.weight", shape.inner + channels + heads, shape.hidden)
    network.numbers(f"{block}ssm_conv1d.weight", channels, 4, spread=0.5)
    network.numbers(f"{block}ssm_conv1d.bias", channels)
    network.numbers(f"{block}ssm_dt.bias", heads)
    network.numbers(f"{block}ssm_a", heads, 1, middle=-1.0)
    network.ones(f"{block}ssm_d", heads, 1)
    network.matrix(f"{block}ssm_out.weight", shape.hidden, shape.inner)
    network.attention(block)
    network.feed_forward(block)


def _qwen35(network: _Network, block: str, layer: int) -> None:
    shape, heads = network.shape, network.ranks
    network.norms(block, "attn_norm.weight", "post_attention_norm.weight")
    network.feed_forward(block)
    if attends(shape, layer):
        network.attention(block, doubled=2)
        network.head_norms(block)
        return
    network.matrix(f"{block}attn_qkv.weight", 3 * shape.inner, shape.hidden)
    network.matrix(f"{block}attn_gate.weight", shape.inner, shape.hidden)
    network.numbers(f"{block}ssm_conv1d.weight", 3 * shape.inner, 4, spread=0.5)
    network.numbers(f"{block}ssm_dt.bias", heads)
    network.numbers(f"{block}ssm_a", heads, middle=-1.0)
    for name in ("ssm_beta", "ssm_alpha"):
        network.matrix(f"{block}{name}.weight", heads, shape.hidden)
    network.ones(f"{block}ssm_norm.weight", shape.state)
    network.matrix(f"{block}ssm_out.weight", shape.hidden, shape.inner)


LAYERS: dict[str, Callable[[_Network, str, int], None]] = {
    "llama": _llama,
    "gemma2": _gemma2,
    "lfm2": _lfm2,
    "mamba": _mamba,
    "falcon-h1": _falcon_h1,
    "qwen35": _qwen35,
}
"""By family, what adds a layer's tensors."""


def _vocabulary(writer: gguf.GGUFWriter, words: Sequence[str], others: int) -> int:
    """Bytes; ``others`` more tokens, ``words`` and the beginnings of these among them; marks. How many there are."""
    letters = _letters()
    pieces: dict[str, str] = {}
    for word in words:
        begun = letters[ord(" ")]
        for letter in word:
            grown = begun + letters[ord(letter)]
            if grown not in pieces and len(pieces) < others:
                pieces[grown] = f"{begun} {letters[ord(letter)]}"
            begun = grown
    fill = [f"{letters[ord(' ')]}w{number}" for number in range(others - len(pieces))]
    tokens = [*letters, *pieces, *fill]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([*tokens, *SPECIAL])
    kinds: list[Any] = [gguf.TokenType.NORMAL] * len(tokens) + [gguf.TokenType.CONTROL] * len(SPECIAL)
    writer.add_token_types(kinds)
    writer.add_token_merges([*pieces.values()] or [f"{letters[ord(' ')]} t"])
    writer.add_bos_token_id(len(tokens))
    writer.add_eos_token_id(len(tokens) + 2)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    return len(tokens) + len(SPECIAL)


def _letters() -> list[str]:
    """The letter that stands for each byte in a byte-level vocabulary."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(256 + others.index(byte)) for byte in range(256)]
