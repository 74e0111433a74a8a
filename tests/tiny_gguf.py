"""Writes a random-weight Llama-architecture GGUF in milliseconds: every path of a real file, none of its sense."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import gguf
import llama_cpp
import numpy as np

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
QUANTISED = {
    "F32": 0,
    "F16": 1,
    "Q4_0": 2,
    "Q4_1": 3,
    "Q8_0": 7,
    "Q5_0": 8,
    "Q5_1": 9,
    "Q2_K": 10,
    "Q4_K": 15,
    "Q5_K": 17,
    "Q6_K": 18,
    "IQ4_NL": 25,
    "IQ4_XS": 30,
    "BF16": 32,
}
"""Type: llama.cpp's number of the kind of file that is made of it."""
HIDDEN, LAYERS, HEADS, FEED_FORWARD, CONTEXT = 32, 2, 2, 48, 1024


def write(
    path: Path,
    seed: int = 0,
    template: str | None = CHATML,
    add_bos: bool = False,
    arch: str = "llama",
    hidden: int = HIDDEN,
    feed_forward: int = FEED_FORWARD,
    layers: int = LAYERS,
    split: int = 0,
    defined: Sequence[str] = (),
    width: int = 0,
    kv_heads: int = HEADS,
    **facts: int | str,
) -> Path:
    """A byte-level BPE vocabulary of 256 bytes, a few merges, three special tokens and those that are user-``defined``;
    tied embeddings; 16-bit. ``split``: into files of so many tensors, the first of which is returned; ``width``: of a
    head, where it is not what ``hidden`` has for each; ``facts``: more metadata, a dot in a key written as two
    underscores."""
    writer = gguf.GGUFWriter(str(path), arch, split_max_tensors=split)
    for key, value in facts.items():
        (writer.add_string if isinstance(value, str) else writer.add_uint32)(key.replace("__", "."), value)  # type: ignore[operator]
    _hyperparameters(writer, hidden, feed_forward, layers, width, kv_heads)
    size = _vocabulary(writer, add_bos, defined)
    if template is not None:
        writer.add_chat_template(template)
    heads = (HEADS * (width or hidden // HEADS), kv_heads * (width or hidden // HEADS))
    _weights(writer, size, np.random.default_rng(seed), hidden, feed_forward, layers, heads)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return min(path.parent.glob(f"{path.stem}-00001-of-*.gguf")) if split else path


def quantise(source: Path, path: Path, kind: str, pure: bool = True) -> Path:
    """The file with all its matrices in one type (``pure``), or mostly in one, by llama.cpp's own quantiser. Rows must
    be a multiple of a block."""
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = QUANTISED[kind]
    params.pure, params.nthread = pure, 1
    done = llama_cpp.llama_model_quantize(str(source).encode(), str(path).encode(), ctypes.byref(params))
    assert done == 0, f"llama.cpp cannot write {kind}"
    return path


def _hyperparameters(
    writer: gguf.GGUFWriter, hidden: int, feed_forward: int, layers: int, width: int, kv_heads: int
) -> None:
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(hidden)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(feed_forward)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(kv_heads)
    if width:
        writer.add_key_length(width)
        writer.add_value_length(width)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width or hidden // HEADS)


def _vocabulary(writer: gguf.GGUFWriter, add_bos: bool, defined: Sequence[str]) -> int:
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    letters = {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}
    merges = ["Ġ t", "h e", "i n", "Ġt he", "Ġ a"]
    tokens = [*(letters[b] for b in range(256)), *(m.replace(" ", "") for m in merges)]
    special = ["<|end|>", "<|im_start|>", "<|im_end|>"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([*tokens, *special, *defined])
    kinds = [gguf.TokenType.NORMAL] * len(tokens) + [gguf.TokenType.CONTROL] * len(special)
    kinds += [gguf.TokenType.USER_DEFINED] * len(defined)
    writer.add_token_types(kinds)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(len(tokens))
    writer.add_eos_token_id(len(tokens) + 2)
    writer.add_add_bos_token(add_bos)
    return len(kinds)


def _weights(
    writer: gguf.GGUFWriter,
    size: int,
    rng: np.random.Generator,
    hidden: int,
    feed_forward: int,
    layers: int,
    heads: tuple[int, int],
) -> None:
    def matrix(*shape: int) -> np.ndarray:
        return (rng.normal(size=shape) * 1.5 / shape[-1] ** 0.5).astype(np.float16)

    writer.add_tensor("token_embd.weight", rng.normal(size=(size, hidden)).astype(np.float16))
    writer.add_tensor("output_norm.weight", np.ones(hidden, np.float32))
    for layer in range(layers):
        block = f"blk.{layer}."
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}{name}.weight", np.ones(hidden, np.float32))
        for name, rows in (("attn_q", heads[0]), ("attn_k", heads[1]), ("attn_v", heads[1])):
            writer.add_tensor(f"{block}{name}.weight", matrix(rows, hidden))
        writer.add_tensor(f"{block}attn_output.weight", matrix(hidden, heads[0]))
        for name in ("ffn_gate", "ffn_up"):
            writer.add_tensor(f"{block}{name}.weight", matrix(feed_forward, hidden))
        writer.add_tensor(f"{block}ffn_down.weight", matrix(hidden, feed_forward))
