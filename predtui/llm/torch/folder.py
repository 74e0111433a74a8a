"""Models in the layout of the Hugging Face hub, a folder of configuration, tokenizer and weights, or in a GGUF file.

Local only: nothing is downloaded, no code that a folder brings is run, and no pickle is opened. Must not know of caches
or logits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from predtui.errors import PredtuiError
from predtui.llm.base import ChatTemplate, LoadedModel, ModelRequest, Stale, Told, never, unheard
from predtui.llm.placement import AUTO
from predtui.llm.sizes.of_folder import configuration
from predtui.llm.sizes.quantised import Quantised, quantised
from predtui.llm.templates import JinjaTemplate, PlainTemplate
from predtui.llm.threads import default_threads
from predtui.llm.torch import unpacked
from predtui.llm.torch.fixed import FixedModel, unfixed
from predtui.llm.torch.model import TorchModel
from predtui.llm.torch.placing import SEVERAL, Machine, place
from predtui.llm.torch.planning import find, is_gguf, needed, network_of
from predtui.llm.torch.quantised import arguments
from predtui.llm.torch.tree import TorchTreeModel, takes_trees
from predtui.llm.weights import GGUF, read_weights, weights_file
from predtui.models.published import name_of
from predtui.system.threads import limit

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
    """The model of a folder, where ``placing`` puts it; ``request.placement`` may keep it on the CPU.

    Libraries have one number of threads a process: the last load sets it. Raises PredtuiError with what to do.
    """
    folder = find(request.model)
    machine = Machine.here()
    if "cpu" in request.placement.devices():
        machine = Machine(machine.memory)
    small, large = (needed(folder, request.context, width) for width in (2, 4))
    chosen = place(str(folder), small, large, machine)
    how = _packed(folder)
    network = load_network(folder, chosen.device, chosen.dtype, told=request.told)
    graphed, why = _graphed(network, chosen.device, request.placement.graphs)
    loaded = wrapped(network, request.context, request.stale, graphed)
    if is_gguf(folder):
        unpacked.check(folder, loaded)
    parameters = network_of(folder, 2).parameters if how else loaded.parameters
    limit(request.threads or default_threads(parameters))
    tokenizer, template = load_tokenizer(folder, network)
    return LoadedModel(
        name=name_of(request.model, folder),
        engine="torch",
        device=", ".join(word for word in (chosen.told, how and how.method, why) if word),
        parameters=parameters,
        model=loaded,
        tokenizer=tokenizer,
        template=template,
        pad=tokenizer.pad,
    )


def wrapped(network: Any, context: int = 0, stale: Stale = never, graphed: bool = False) -> TorchModel:
    """The network as a language model, as ``TorchModel`` says; one that takes trees where the network can.
    ``graphed``: with a cache of fixed size, and CUDA graphs."""
    if graphed:
        return FixedModel(network, context, stale)
    return (TorchTreeModel if takes_trees(network) else TorchModel)(network, context, stale)


def _graphed(network: Any, device: str, wanted: str) -> tuple[bool, str]:
    """Whether its forwards are to be CUDA graphs, as ``llm.graphs`` has it; and that in words, on a GPU. Raises
    PredtuiError where they have to be, and cannot."""
    if wanted == "off" or (wanted == AUTO and device != "cuda"):
        return False, ""
    why = (
        unfixed(network) if device == "cuda" else f"they need one CUDA GPU that holds the model, and it is on {device}"
    )
    if why and wanted == "on":
        raise PredtuiError(f"llm.graphs = on, and there can be none: {why}.", "Set llm.graphs to auto.")
    return not why, f"no graphs: {why}" if why else "graphs"


def describe(model: str) -> str:
    """A line on a model's folder: its kind, the size of its weights, where it is. Raises PredtuiError."""
    folder = find(model)
    network = network_of(folder, 2)
    how = _packed(folder)
    kind = f"{network.architecture}, {how.method}" if how else network.architecture
    return f"{folder.name} ({kind}, {network.parameters / 1e6:.1f}M parameters), {folder}"


def _packed(folder: Path) -> Quantised | None:
    """How its weights stay quantised; None where they do not, as those of a GGUF file."""
    return None if is_gguf(folder) else quantised(configuration(folder))


def load_network(
    folder: Path, device: str, dtype: torch.dtype, attention: str | None = None, told: Told = unheard
) -> Any:
    """The network of a checked folder, in evaluation mode; ``device`` may be ``SEVERAL``. Weights that are quantised
    stay so, if they are not of a kind that is unpacked. Raises PredtuiError for one that cannot be loaded, or where
    ``told`` says no."""
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        if is_gguf(folder) or weights_file(folder).name == GGUF:
            network: Any = (unpacked.network if is_gguf(folder) else _of_gguf)(folder, dtype, attention)
            return network.to(device).eval()
        shared = {"device_map": device} if device == SEVERAL else {}
        asked = {"dtype": dtype, **shared, **arguments(folder, device)}
        with _telling(folder, told):
            network = AutoModelForCausalLM.from_pretrained(
                folder,
                attn_implementation=attention,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                **asked,
            )
    except PredtuiError:
        raise
    except ImportError as error:
        raise PredtuiError(
            f"{folder} needs a package that is not there: {_first_line(error)}.", "Install it, or choose another model."
        ) from error
    except Exception as error:
        raise _unloadable(folder, error) from error
    return (network if "device_map" in asked else network.to(device)).eval()


@contextmanager
def _telling(folder: Path, told: Told) -> Iterator[None]:
    """Within it, a loading of transformers in this process tells how far its weights are."""
    total = sum(path.stat().st_size for path in folder.glob("*.safetensors"))

    def steps(items: Sequence[Any]) -> Iterator[Any]:
        for number, item in enumerate(items):
            if not told(total * number // len(items), total):
                raise PredtuiError(f"The loading of {folder} was given up.")
            yield item

    def watched(bar: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Iterable[Any]:
        loading = named.get("desc") == "Loading weights"
        bars: Iterable[Any] = steps([*given[0]]) if loading else bar(*given, **named)
        return bars

    before = transformers.utils.logging.set_tqdm_hook(watched)
    try:
        yield
    finally:
        transformers.utils.logging.set_tqdm_hook(before)


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


def tokenizer_of(folder: Path) -> Any:
    """That of transformers. Raises its errors."""
    if is_gguf(folder):
        return unpacked.tokenizer(folder)
    return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def load_tokenizer(folder: Path, network: Any) -> tuple[HuggingFaceTokenizer, ChatTemplate]:
    """Tokenizer and chat template of a folder. Raises PredtuiError for a folder without them."""
    try:
        tokenizer = tokenizer_of(folder)
    except Exception as error:
        raise PredtuiError(f"The tokenizer in {folder} cannot be loaded: {_first_line(error)}.", _FETCH) from error
    source = tokenizer.chat_template
    if isinstance(source, dict):
        source = source.get("default")
    template = (
        JinjaTemplate(source, tokenizer.bos_token or "", tokenizer.eos_token or "") if source else PlainTemplate()
    )
    return HuggingFaceTokenizer(tokenizer, _ends(tokenizer, network)), template


def _ends(tokenizer: Any, network: Any) -> list[int]:
    """The tokens that end a reply, by every place that names them."""
    places = (tokenizer, network.config, network.config.get_text_config(), network.generation_config)
    named = [getattr(place, "eos_token_id", None) for place in places]
    flat = [token for item in named for token in (item if isinstance(item, list) else [item])]
    return [token for token in flat if token is not None]


def _unloadable(folder: Path, error: Exception) -> PredtuiError:
    try:
        kind = (
            network_of(folder, 2).architecture
            if is_gguf(folder)
            else configuration(folder).get("model_type", "unknown")
        )
    except PredtuiError as damaged:
        return damaged
    return PredtuiError(
        f"transformers cannot load {folder} (architecture {kind}): {_first_line(error)}.",
        "Choose another model with --model, or update transformers.",
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".:")
