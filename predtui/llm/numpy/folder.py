"""A folder in the layout of the Hugging Face hub into ``NumpyLlama``: configuration, weights and tokenizer.json.

Llama networks alone, without torch or transformers. Must not know of caches or logits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Fast

from predtui.errors import PredtuiError, described
from predtui.files import only_files, read_json
from predtui.llm.base import ChatTemplate, LoadedModel, ModelRequest
from predtui.llm.numpy.network import NumpyLlama, Shape
from predtui.llm.templates import JinjaTemplate, PlainTemplate
from predtui.llm.threads import default_threads
from predtui.llm.weights import no_gguf, read_weights, weights_file
from predtui.models.places import find
from predtui.models.shipped import MODELS, place
from predtui.system.threads import limit

_CHOOSE = "The numpy engine reads folders of Llama networks: config.json, model.safetensors or .gguf, tokenizer.json."
_LONGEST = 4096
_INCOMPLETE = "�"
"""What a decoder writes for bytes that are no character yet."""


class FolderTokenizer:
    """A ``Tokenizer`` of tokenizer.json. A text that ends in U+FFFD itself is taken for one that is incomplete."""

    def __init__(self, fast: Fast, bos: str, ends: Sequence[int]) -> None:
        """``bos``: the text of the token that a prompt begins with, if any; ``ends``: the tokens that end a reply."""
        self._fast, self._ends = fast, frozenset(ends)
        self._bos = fast.token_to_id(bos) if bos else None

    def encode(self, text: str, special: bool = False) -> list[int]:
        self._fast.encode_special_tokens = not special
        text = text.encode("utf-8", errors="replace").decode("utf-8")
        ids: list[int] = self._fast.encode(text, add_special_tokens=False).ids
        return ids if not special or self._bos is None or ids[:1] == [self._bos] else [self._bos, *ids]

    def decode(self, tokens: Sequence[int]) -> str:
        text: str = self._fast.decode(list(tokens), skip_special_tokens=True)
        return text.rstrip(_INCOMPLETE)

    def is_end(self, token: int) -> bool:
        return token in self._ends


def load(request: ModelRequest) -> LoadedModel:
    """The model of a folder, in float32 on the CPU, and all of numpy limited to its threads. Raises PredtuiError."""
    no_gguf(request.model)
    folder = only_files(_folder(request.model))
    with _explained(folder):
        config = read_json(folder / "config.json")
        shape = _shape(config)
        network = NumpyLlama(shape, read_weights(folder, shape.heads, shape.kv_heads), request.context, request.stale)
        tokenizer, template, pad = _tokenizer(folder, config)
    limit(request.threads or default_threads(network.parameters))
    name = request.model if request.model in MODELS else folder.name
    return LoadedModel(name, "numpy", "cpu", network.parameters, network, tokenizer, template, pad)


def _folder(model: str) -> Path:
    return place(model) if model in MODELS else find(model, "folder")


def describe(model: str) -> str:
    """A line on a model's folder, without its weights. Raises PredtuiError for one that cannot be loaded."""
    no_gguf(model)
    folder = only_files(_folder(model))
    with _explained(folder):
        shape = _shape(read_json(folder / "config.json"))
        size = weights_file(folder).stat().st_size
    return f"{folder.name} (llama, {shape.layers} layers, {size / 2**20:.1f} MB), {folder}"


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Turns what is wrong with a folder into a PredtuiError."""
    try:
        yield
    except Exception as error:  # tokenizers raises nothing narrower
        raise PredtuiError(f"{folder} cannot be loaded ({described(error)}).", _CHOOSE) from error


def _shape(config: dict[str, Any]) -> Shape:
    """Raises ValueError for what ``NumpyLlama`` does not compute, KeyError for what is not said."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if config["model_type"] != "llama" or config.get("hidden_act", "silu") != "silu":
        raise ValueError(f"{config['model_type']} with {config.get('hidden_act')}, not a Llama network")
    if config.get("attention_bias") or config.get("mlp_bias"):
        raise ValueError("its products have a bias")
    if rope.get("rope_type", "default") != "default":
        raise ValueError(f"its rotary embedding is scaled ({rope['rope_type']})")
    heads = int(config["num_attention_heads"])
    return Shape(
        layers=int(config["num_hidden_layers"]),
        heads=heads,
        kv_heads=int(config.get("num_key_value_heads") or heads),
        head_width=int(config.get("head_dim") or config["hidden_size"] // heads),
        context=min(int(config["max_position_embeddings"]), _LONGEST),
        theta=float(rope.get("rope_theta") or config.get("rope_theta") or 10000.0),
        epsilon=float(config["rms_norm_eps"]),
    )


def _tokenizer(folder: Path, config: dict[str, Any]) -> tuple[FolderTokenizer, ChatTemplate, int | None]:
    """Tokenizer, template, and the token that stands where there is none."""
    fast = Fast.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer = read_json(folder / "tokenizer_config.json")
    bos, eos, padding = (_spelled(tokenizer.get(f"{name}_token")) for name in ("bos", "eos", "pad"))
    generation = folder / "generation_config.json"
    ends = _ends(config) + (_ends(read_json(generation)) if generation.is_file() else [])
    ends += [token for token in [fast.token_to_id(eos)] if eos and token is not None]
    apart = folder / "chat_template.jinja"
    source = apart.read_text(encoding="utf-8") if apart.is_file() else tokenizer.get("chat_template")
    template = JinjaTemplate(source, bos, eos) if source else PlainTemplate()
    pad = fast.token_to_id(padding) if padding else None
    return FolderTokenizer(fast, bos if tokenizer.get("add_bos_token") else "", ends), template, pad


def _spelled(token: str | dict[str, Any] | None) -> str:
    """A special token of a tokenizer's configuration, which says it bare or with how it is found in a text."""
    return str(token["content"]) if isinstance(token, dict) else token or ""


def _ends(config: dict[str, Any]) -> list[int]:
    """The tokens by which a configuration ends a reply."""
    named = config.get("eos_token_id")
    return [named] if isinstance(named, int) else list(named or ())
