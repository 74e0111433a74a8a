"""Models in the layout of the Hugging Face hub: a folder of configuration, tokenizer and weights, local only.

Nothing is downloaded, no code that a folder brings is run, and no pickle is opened. Must not know of caches or logits.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import psutil
import torch
import transformers
from safetensors import SafetensorError, safe_open
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from predtui.errors import PredtuiError
from predtui.files import read_json
from predtui.llm.base import ChatTemplate, LoadedModel, ModelRequest
from predtui.llm.gguf import read_header
from predtui.llm.templates import JinjaTemplate, PlainTemplate
from predtui.llm.threads import default_threads
from predtui.llm.torch.model import TorchModel
from predtui.llm.torch.tree import TorchTreeModel, takes_trees
from predtui.llm.weights import GGUF, read_weights, weights_file
from predtui.models.shipped import MODELS, place

_CHOOSE = "Choose a folder with config.json, tokenizer.json and *.safetensors with --model."
_FETCH = "Fetch or copy the folder again, or choose another model with --model."
_INCOMPLETE = "�"
"""What a decoder writes for bytes that are no character yet."""


class HuggingFaceTokenizer:
    """A ``Tokenizer`` of transformers. A text that ends in U+FFFD itself is taken for one that is incomplete."""

    def __init__(self, tokenizer: Any, ends: Sequence[int]) -> None:
        """``ends``: the tokens that end a reply."""
        self._tokenizer = tokenizer
        self._ends = frozenset(ends)
        self.pad: int | None = tokenizer.pad_token_id
        first = tokenizer("a").input_ids[:1]
        self._bos = first[0] if first == [tokenizer.bos_token_id] else -1

    def encode(self, text: str, special: bool = False) -> list[int]:
        """A rendered template (``special``) begins with exactly one BOS where the model wants one, whether or not the
        template writes it; other text gets none."""
        text = text.encode("utf-8", errors="replace").decode("utf-8")
        ids: list[int] = self._tokenizer(text, add_special_tokens=False, split_special_tokens=not special).input_ids
        if special and self._bos >= 0 and ids[:1] != [self._bos]:
            ids.insert(0, self._bos)
        return ids

    def decode(self, tokens: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text.rstrip(_INCOMPLETE)

    def is_end(self, token: int) -> bool:
        return token in self._ends


def load(request: ModelRequest) -> LoadedModel:
    """The model of a folder, in bfloat16 on a GPU where there is one, else in float32 on the CPU.

    Torch has one number of threads a process: the last load sets it. Raises PredtuiError with what to do.
    """
    folder = find(request.model)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = load_network(folder, device, torch.bfloat16 if device == "cuda" else torch.float32)
    loaded = (TorchTreeModel if takes_trees(network) else TorchModel)(network, request.context, request.stale)
    torch.set_num_threads(request.threads or default_threads(loaded.parameters))
    tokenizer, template = load_tokenizer(folder, network)
    return LoadedModel(
        name=request.model if request.model in MODELS else folder.name,
        engine="torch",
        device="gpu" if device == "cuda" else device,
        parameters=loaded.parameters,
        model=loaded,
        tokenizer=tokenizer,
        template=template,
        pad=tokenizer.pad,
    )


def find(model: str) -> Path:
    """The folder of a shipped model, of a path, or of a hub name that is in the local cache. Raises PredtuiError."""
    folder = place(model)
    if not folder.exists() and model not in MODELS:
        folder = _cached(model)
    if not folder.is_dir():
        raise PredtuiError(f"{folder} is not a folder, and the torch engine reads folders.", _CHOOSE)
    if not (folder / "config.json").is_file():
        raise PredtuiError(f"The folder {folder} holds no config.json.", _CHOOSE)
    return folder


def describe(model: str) -> str:
    """A line on a model's folder: its kind, the size of its weights, where it is. Raises PredtuiError."""
    folder = find(model)
    return f"{folder.name} ({_kind(folder)}, {weights_of(folder) / 1e6:.1f}M parameters), {folder}"


def load_network(folder: Path, device: str, dtype: torch.dtype, attention: str | None = None) -> Any:
    """The network of a checked folder, in evaluation mode. Raises PredtuiError for one that cannot be loaded."""
    _check_memory(folder, weights_of(folder) * dtype.itemsize, device)
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        if weights_file(folder).name == GGUF:
            network: Any = _of_gguf(folder, dtype, attention)
        else:
            network = AutoModelForCausalLM.from_pretrained(
                folder,
                dtype=dtype,
                attn_implementation=attention,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
            )
    except PredtuiError:
        raise
    except Exception as error:
        raise _unloadable(folder, error) from error
    return network.to(device).eval()


def _of_gguf(folder: Path, dtype: torch.dtype, attention: str | None) -> Any:
    """A Llama network whose weights are in the GGUF file. Raises PredtuiError for a file of another kind, RuntimeError
    where weights are missing."""
    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    network: Any = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation=attention)  # type: ignore[no-untyped-call]
    weights = read_weights(folder, config.num_attention_heads, config.num_key_value_heads)
    if config.tie_word_embeddings:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return network


def load_tokenizer(folder: Path, network: Any) -> tuple[HuggingFaceTokenizer, ChatTemplate]:
    """Tokenizer and chat template of a folder. Raises PredtuiError for a folder without them."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise PredtuiError(f"The tokenizer in {folder} cannot be loaded: {_first_line(error)}.", _FETCH) from error
    source = tokenizer.chat_template
    if isinstance(source, dict):
        source = source.get("default")
    template = (
        JinjaTemplate(source, tokenizer.bos_token or "", tokenizer.eos_token or "") if source else PlainTemplate()
    )
    return HuggingFaceTokenizer(tokenizer, _ends(tokenizer, network)), template


def weights_of(folder: Path) -> int:
    """How many numbers the folder's weights are, from the files' headers, which are checked against their sizes.
    Raises PredtuiError where there are none, or one is damaged."""
    files = sorted(folder.glob("*.safetensors"))
    if not files and (folder / GGUF).is_file():
        return read_header(folder / GGUF).parameters
    if not files:
        pickled = next((path.name for pattern in ("*.bin", "*.pt", "*.pth") for path in folder.glob(pattern)), "")
        why = f": {pickled} is a pickle, which can run any code, and is not opened" if pickled else ""
        raise PredtuiError(f"The folder {folder} holds no safetensors{why}.", _CHOOSE)
    return sum(_numbers(path) for path in files)


def _numbers(path: Path) -> int:
    try:
        with safe_open(str(path), framework="pt") as file:
            return sum(prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise PredtuiError(f"The model file {path} is damaged or cut short ({_first_line(error)}).", _FETCH) from error


def _cached(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except Exception as error:
        logging.getLogger(__name__).debug("%s is not in the cache: %s", name, error)
        raise PredtuiError(
            f"There is no folder {name}, nor is there such a name in the local cache.", _CHOOSE
        ) from None


def _ends(tokenizer: Any, network: Any) -> list[int]:
    """The tokens that end a reply, by every place that names them."""
    named = [tokenizer.eos_token_id, network.config.eos_token_id, network.generation_config.eos_token_id]
    flat = [token for item in named for token in (item if isinstance(item, list) else [item])]
    return [token for token in flat if token is not None]


def _check_memory(folder: Path, needed: int, device: str) -> None:
    free = torch.cuda.mem_get_info()[0] if device == "cuda" else psutil.virtual_memory().available
    if needed > free:
        raise PredtuiError(
            f"{folder} needs {needed / 2**20:,.0f} MB of memory and {free / 2**20:,.0f} MB are free.",
            "Choose a smaller model.",
        )


def _unloadable(folder: Path, error: Exception) -> PredtuiError:
    try:
        kind = _kind(folder)
    except PredtuiError as damaged:
        return damaged
    return PredtuiError(
        f"transformers cannot load {folder} (architecture {kind}): {_first_line(error)}.",
        "Choose another model with --model, or update transformers.",
    )


def _kind(folder: Path) -> str:
    """The architecture that a checked folder names. Raises PredtuiError for a damaged configuration."""
    try:
        return str(read_json(folder / "config.json").get("model_type", "unknown"))
    except (OSError, ValueError, AttributeError) as error:
        raise PredtuiError(f"The file {folder / 'config.json'} is damaged.", _FETCH) from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".:")
