"""A trained pocket model as a folder that every engine loads: a GGUF file, and the hub's configuration and tokenizer.

Matrices are stored in bfloat16, in which they were trained, and which processors that have it multiply twice as fast
as they read IEEE half precision; the folder asks for float32 arithmetic. Must not know of training.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor

from predtui.lab.training.pocket.config import Shape
from predtui.lab.training.pocket.gguf import pocket_vocabulary, write_gguf
from predtui.lab.training.pocket.model import PocketModel
from predtui.lab.training.pocket.tokenizer import END, PAD, SPECIAL_TOKENS, save_tokenizer
from predtui.llm.weights import GGUF, read_weights


def llama_config(shape: Shape) -> dict[str, Any]:
    """The ``config.json`` of ``LlamaForCausalLM``, with the rotary base where old and new transformers look for it."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "head_dim": shape.head_dim,
        "intermediate_size": shape.ffn,
        "hidden_act": "silu",
        "vocab_size": shape.vocab,
        "max_position_embeddings": shape.context,
        "rms_norm_eps": shape.norm_eps,
        "rope_theta": shape.rope_theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.rope_theta},
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": SPECIAL_TOKENS.index(END),
        "pad_token_id": SPECIAL_TOKENS.index(PAD),
        "torch_dtype": "float32",
        "dtype": "float32",
    }


def export(model: PocketModel, tokenizer: Tokenizer, folder: Path, name: str, small: bool = False) -> None:
    """Write config, tokenizer and ``model.gguf`` (BF16, or Q8_0 where ``small``) into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    shape = model.shape
    save_tokenizer(tokenizer, folder, shape.context)
    generation = {"eos_token_id": SPECIAL_TOKENS.index(END), "pad_token_id": SPECIAL_TOKENS.index(PAD)}
    for file, data in (("config.json", llama_config(shape)), ("generation_config.json", generation)):
        (folder / file).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    weights = {name: rounded(tensor.detach()) for name, tensor in model.state_dict().items()}
    write_gguf(weights, pocket_vocabulary(tokenizer), shape, folder / GGUF, name, small)


def rounded(tensor: Tensor) -> Tensor:
    """As it is stored."""
    return (tensor.bfloat16() if tensor.ndim == 2 else tensor.float()).contiguous()


def load_exported(folder: Path) -> PocketModel:
    """The model of a folder that ``export`` or ``save_pretrained`` has written, for training on or for comparison;
    weights rounded as they were stored."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    shape = Shape(
        hidden=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        ffn=config["intermediate_size"],
        vocab=config["vocab_size"],
        context=config["max_position_embeddings"],
        rope_theta=config.get("rope_theta") or config["rope_parameters"]["rope_theta"],
        norm_eps=config["rms_norm_eps"],
    )
    model = PocketModel(shape)
    weights = read_weights(folder, shape.heads, shape.heads)
    model.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return model.eval()
