"""The sizes of a network in a folder of the Hugging Face hub: its configuration, and the headers of its safetensors.

As transformers keeps the cache: layers with a window keep no more than that, and latent attention is kept unpacked.
Must not know of weights, or of what is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from predtui.errors import PredtuiError
from predtui.files import parse_json, read_json
from predtui.llm.sizes.network import Layer, Network
from predtui.llm.sizes.quantised import quantised

LARGEST_HEADER = 1 << 27
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.(\d{1,4})\.")
_EMBEDDINGS = ("embed_tokens.weight", "wte.weight", "embed_in.weight", "word_embeddings.weight")
_MOST_LAYERS = 1024
_MOST = 1 << 32
_CHOOSE = "Choose a folder with config.json, tokenizer.json and *.safetensors with --model."
_FETCH = "Fetch or copy the folder again, or choose another model with --model."
_CONVERT = (
    "Fetch the model as safetensors; or, if you trust who made it, load it in transformers and save it with "
    "save_pretrained, which writes them."
)


def network_of(folder: Path, width: int) -> Network:
    """The network in the folder, each weight of which takes ``width`` bytes once it is loaded, unless it is quantised
    and stays as it is stored. Raises PredtuiError for one that is no model, or damaged."""
    facts = _Facts(configuration(folder))
    found, how = stored(folder), quantised(facts.config)
    numbers = {name: how.numbers(name, one.kind, one.shape) if how else prod(one.shape) for name, one in found.items()}
    kept = how is not None and not how.unpacked
    sizes = {name: one.size if kept else width * numbers[name] for name, one in found.items()}
    held, inputs, rest = _weights(sizes, facts.layers)
    share = facts.number("num_experts_per_tok", default=1) / max(
        1, facts.number("num_experts", "num_local_experts", default=1)
    )
    read = [int(plain + experts * min(1.0, share)) for plain, experts in held]
    layers = zip(held, read, _kept(facts), strict=True)
    tied = facts.flag("tie_word_embeddings") and not any(name.endswith("lm_head.weight") for name in found)
    return Network(
        str(facts.config.get("model_type", "unknown")),
        sum(numbers.values()),
        facts.number("max_position_embeddings", "n_positions"),
        facts.hidden,
        facts.number("intermediate_size", "n_inner", default=4 * facts.hidden),
        facts.heads,
        facts.number("vocab_size"),
        tuple(Layer(plain + experts, needed, *cached) for (plain, experts), needed, cached in layers),
        inputs,
        inputs if tied else 0,
        rest,
    )


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor as it is in a file: ``kind`` of its numbers in words of safetensors, ``size`` in bytes."""

    kind: str
    shape: tuple[int, ...]
    size: int


def stored(folder: Path) -> dict[str, Stored]:
    """Each tensor by name, from the headers of all safetensors of a folder. Raises PredtuiError where there is
    none, one that the index names is missing, or one is damaged."""
    files = sorted(folder.glob("*.safetensors"))
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            named = set(read_json(index)["weight_map"].values())
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise PredtuiError(f"The file {index} is damaged.", _FETCH) from error
        missing = sorted(str(name) for name in named - {path.name for path in files})
        if missing:
            raise PredtuiError(f"The folder {folder} lacks {missing[0]}.", _FETCH)
    if not files:
        pickled = _pickled(folder)
        raise PredtuiError(f"The folder {folder} holds no safetensors{pickled}.", _CONVERT if pickled else _CHOOSE)
    return {name: one for path in files for name, one in _stored(path)}


def _pickled(folder: Path) -> str:
    found = next((path.name for pattern in ("*.bin", "*.pt", "*.pth") for path in folder.glob(pattern)), "")
    return f": {found} is a pickle, which can run any code, and is not opened" if found else ""


def _stored(path: Path) -> Iterator[tuple[str, Stored]]:
    """The length of a header in JSON, the header, the data."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > min(LARGEST_HEADER, size - 8):
                raise ValueError("a header beyond its end")
            header = parse_json(file.read(length))
        header.pop("__metadata__", None)
        end = max((int(entry["data_offsets"][1]) for entry in header.values()), default=0)
        if 8 + length + end > size:
            raise ValueError("cut short")
        for name, entry in header.items():
            begin, end = (int(offset) for offset in entry["data_offsets"])
            yield name, Stored(str(entry["dtype"]), tuple(int(each) for each in entry["shape"]), end - begin)
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise PredtuiError(f"The model file {path} is damaged or cut short.", _FETCH) from error


def configuration(folder: Path) -> dict[str, Any]:
    """That of the language model, where there are several in one. Raises PredtuiError for none, or a damaged one."""
    path = folder / "config.json"
    try:
        config = read_json(path)
        inner = config.get("text_config")
        return {**config, **inner} if isinstance(inner, dict) else dict(config)
    except FileNotFoundError:
        raise PredtuiError(f"The folder {folder} holds no config.json.", _CHOOSE) from None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise PredtuiError(f"The file {path} is damaged.", _FETCH) from error


class _Facts:
    """What the configuration says, as whole numbers of a sane size."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.layers = min(self.number("num_hidden_layers", "n_layer"), _MOST_LAYERS)
        self.hidden = self.number("hidden_size", "n_embd")
        self.heads = max(1, self.number("num_attention_heads", "n_head", default=1))

    def number(self, *names: str, default: int = 0) -> int:
        """The first of ``names`` that is there."""
        found = (self.config[name] for name in names if isinstance(self.config.get(name), int))
        value = next(found, default)
        return value if 0 <= value < _MOST else default

    def flag(self, name: str) -> bool:
        return self.config.get(name) is True

    def types(self) -> list[str]:
        """Kind of each layer."""
        named = self.config.get("layer_types")
        types = [str(name) for name in named[: self.layers]] if isinstance(named, list) else []
        windowed = self.number("sliding_window") and self.config.get("use_sliding_window", True) and not named
        usual = "sliding_attention" if windowed else "full_attention"
        return types + [usual] * (self.layers - len(types))


def _kept(facts: _Facts) -> Iterator[tuple[int, int, int, int]]:
    """Keys, values, window and state of each layer."""
    width = facts.number("head_dim", default=facts.hidden // facts.heads)
    heads = facts.number("num_key_value_heads", default=facts.heads)
    keys = values = heads * width
    if facts.number("kv_lora_rank"):
        keys = facts.heads * (facts.number("qk_nope_head_dim") + facts.number("qk_rope_head_dim"))
        values = facts.heads * facts.number("v_head_dim")
    state = _state(facts)
    for kind in facts.types():
        if kind in ("full_attention", "attention"):
            yield keys, values, 0, 0
        elif kind in ("sliding_attention", "chunked_attention"):
            yield keys, values, facts.number("sliding_window", "attention_chunk_size"), 0
        else:
            yield 0, 0, 0, state


def _state(facts: _Facts) -> int:
    """Numbers that a layer without attention keeps: those of a delta net, of Mamba, of a short convolution."""
    if width := facts.number("linear_key_head_dim"):
        deep = facts.number("linear_value_head_dim", default=width)
        heads, shared = facts.number("linear_num_value_heads"), facts.number("linear_num_key_heads")
        return heads * width * deep + facts.number("linear_conv_kernel_dim") * (2 * shared * width + heads * deep)
    if wide := facts.number("ssm_state_size", "mamba_d_state", "state_size"):
        inner = facts.number("mamba_expand", "expand", default=2) * facts.hidden
        return inner * (wide + facts.number("mamba_d_conv", "conv_kernel", default=4))
    return facts.hidden * facts.number("conv_L_cache")


def _weights(sizes: Mapping[str, int], layers: int) -> tuple[list[tuple[int, int]], int, int]:
    """Bytes of each layer, without its experts and of these; of the embeddings; of what else is outside the layers."""
    held = [[0, 0] for _ in range(layers)]
    inputs = rest = 0
    for name, size in sizes.items():
        found = _LAYER.search(name)
        number = int(found[1]) if found else -1
        if 0 <= number < layers:
            held[number][".experts." in name] += size
        elif name.endswith(_EMBEDDINGS):
            inputs += size
        else:
            rest += size
    return [(plain, experts) for plain, experts in held], inputs, rest
