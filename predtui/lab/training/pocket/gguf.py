"""Weights and tokenizer as a GGUF file (BF16 or Q8_0, norms F32) for any llama.cpp. Must not know of training."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import gguf
import gguf.quants
from tokenizers import Tokenizer
from torch import Tensor

from predtui.lab.training.pocket.config import Shape
from predtui.lab.training.pocket.tokenizer import CHAT_TEMPLATE, END, PAD, SPECIAL_TOKENS
from predtui.llm.weights import gguf_name, interleave

Vocabulary = Callable[[gguf.GGUFWriter], None]
"""Writes the metadata of a tokenizer."""
PRE_TOKENIZER = "smollm"
"""llama.cpp's name for: digits alone, then the byte-level pattern of GPT-2."""


def write_gguf(
    weights: Mapping[str, Tensor], vocabulary: Vocabulary, shape: Shape, path: Path, name: str, small: bool = False
) -> None:
    """Write the model to ``path``, in half the space where it is to be ``small`` (Q8_0). ``weights`` carry the names of
    ``LlamaForCausalLM``; the embedding is tied."""
    form = gguf.GGMLQuantizationType.Q8_0 if small else gguf.GGMLQuantizationType.BF16
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(name)
    writer.add_block_count(shape.layers)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.hidden)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_layer_norm_rms_eps(shape.norm_eps)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_rope_freq_base(shape.rope_theta)
    writer.add_vocab_size(shape.vocab)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0 if small else gguf.LlamaFileType.MOSTLY_BF16)
    vocabulary(writer)
    for key, tensor in weights.items():
        array = tensor.float().numpy()
        if key.endswith(("q_proj.weight", "k_proj.weight")):
            array = interleave(array, shape.heads)
        stored = form if array.ndim == 2 else gguf.GGMLQuantizationType.F32
        writer.add_tensor(gguf_name(key), gguf.quants.quantize(array, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def pocket_vocabulary(tokenizer: Tokenizer) -> Vocabulary:
    """That of the pocket tokenizer."""
    return partial(_add_tokenizer, tokenizer=tokenizer)


def _add_tokenizer(writer: gguf.GGUFWriter, tokenizer: Tokenizer) -> None:
    tokens = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(PRE_TOKENIZER)
    writer.add_token_list(tokens)
    writer.add_token_types([control if token in SPECIAL_TOKENS else normal for token in tokens])
    writer.add_token_merges([" ".join(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]])
    writer.add_eos_token_id(SPECIAL_TOKENS.index(END))
    writer.add_pad_token_id(SPECIAL_TOKENS.index(PAD))
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)
