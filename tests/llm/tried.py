"""Every engine there is, each with tiny models of random weights, for what must hold of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from predtui.lab import random_gguf
from predtui.llm.abilities import Rollback, Verifies
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.remote.address import reference
from predtui.llm.weights import read_weights
from predtui.models.shipped import place
from tests import tiny_folder
from tests.llm import families, family_templates
from tests.llm.remote import imitations
from tests.llm.remote.fake import serving

SEED = 5
LETTERS = "etaoin shrdlu, .?!"
"""What every vocabulary here can spell."""


@dataclass(frozen=True)
class Tried:
    """``engine``: by its name in the registry. ``server``: the kind that is behind it. ``ends``: the marks that end a
    reply, none where that is told by tokens as they arrive. ``marks``: text of tokens that a template alone may
    write. ``thinks``: whether it has marks for thoughts. The rest is what has to be declared."""

    name: str
    engine: str
    open: Callable[[Path], AbstractContextManager[LoadedModel]]
    verifies: Verifies = "exact"
    rollback: Rollback = "any"
    trees: bool = False
    tokenises: bool = True
    server: str = ""
    ends: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    thinks: bool = False
    output: Callable[[LoadedModel], Any] | None = None
    """The matrix [width, vocabulary] that makes logits of its states, where that is known."""

    def __str__(self) -> str:
        return self.name


@contextmanager
def _closing(loaded: LoadedModel) -> Iterator[LoadedModel]:
    yield loaded
    loaded.model.close()


def _scripted(_folder: Path) -> AbstractContextManager[LoadedModel]:
    return _closing(load(str(SEED), "scripted"))


def _pocket(_folder: Path) -> AbstractContextManager[LoadedModel]:
    return _closing(load("pocket", threads=1))


def _family(family: families.Family) -> Tried:
    """In llama.cpp, in the family's own layout, vocabulary and template."""

    def opened(folder: Path) -> AbstractContextManager[LoadedModel]:
        path = families.write(folder / "model.gguf", family)
        return _closing(load(str(path), threads=1, weights="stored"))

    name, thinks = f"llama.cpp {family}", bool(family.answers)
    return Tried(name, "llamacpp", opened, trees=True, ends=family.ends, marks=family.marks, thinks=thinks)


def _state(kind: str) -> Tried:
    """In llama.cpp, a network with a state, which cannot be cut."""

    def opened(folder: Path) -> AbstractContextManager[LoadedModel]:
        path = random_gguf.write(folder / "model.gguf", random_gguf.Shape(kind))
        return _closing(load(str(path), threads=1, weights="stored"))

    ends, marks = ("<|im_end|>", "<|end|>"), random_gguf.SPECIAL
    return Tried(f"llama.cpp {kind}", "llamacpp", opened, rollback=8, ends=ends, marks=marks)


QWEN3 = ("<|im_start|>", "<|im_end|>", "<think>", "</think>")
LLAMA3 = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")


def _folder(engine: str, template: str, marks: tuple[str, ...], end: str, network: str = "") -> Tried:
    """A folder of the hub, with a template in a published structure. ``network``: in place of a Llama."""

    def opened(folder: Path) -> AbstractContextManager[LoadedModel]:
        if engine == "torch":
            pytest.importorskip("transformers")
        written = tiny_folder.write(folder / "model", template=template, marks=marks, end=end)
        loaded = load(str(written), engine, threads=1)
        return _closing(replace(loaded, model=_of_torch(network, loaded.model.vocab_size)) if network else loaded)

    rollback: Rollback = "none" if network else "any"
    name, thinks = " ".join(filter(None, (engine, network))), "<think>" in marks
    trees, ends = engine == "torch" and not network, (end,)
    rest: dict[str, Any] = {"ends": ends, "marks": marks, "thinks": thinks}
    return Tried(name, engine, opened, "exact", rollback, trees, output=_OUTPUTS[engine], **rest)


def _of_numpy_output(loaded: LoadedModel) -> Any:
    return loaded.model._output  # type: ignore[attr-defined]


def _of_torch_output(loaded: LoadedModel) -> Any:
    return loaded.model.network.get_output_embeddings().weight.detach().numpy().T  # type: ignore[attr-defined]


_OUTPUTS = {"numpy": _of_numpy_output, "torch": _of_torch_output}


def _of_torch(network: str, vocabulary: int) -> Any:
    from predtui.llm.torch.folder import wrapped
    from tests.llm.torch.test_families import network_of

    return wrapped(network_of(network, vocab_size=vocabulary))


def _server(kind: str, verifies: Verifies, rollback: Rollback = "any", tokenises: bool = True) -> Tried:
    """A server that imitates one of this kind, with the scripted model."""

    @contextmanager
    def opened(_folder: Path) -> Iterator[LoadedModel]:
        routes = imitations.openai if kind == "openai" else imitations.TELL_TOKENS[kind]
        with serving(routes(SEED)) as server:
            loaded = load(reference(server.url, "small" if kind == "openai" else "auto"), "remote")
            yield loaded
            loaded.model.close()

    return Tried(f"remote {kind}", "remote", opened, verifies, rollback, tokenises=tokenises, server=kind)


def _published(name: str) -> families.Family:
    return next(family for family in families.FAMILIES if family.name == name)


ENGINES = (
    Tried("scripted", "scripted", _scripted, trees=True, output=lambda loaded: np.eye(loaded.model.vocab_size)),
    Tried(
        *("pocket", "llamacpp", _pocket),
        trees=True,
        ends=("<|end|>",),
        marks=("<|user|>", "<|assistant|>", "<|end|>"),
        output=lambda _loaded: read_weights(place("pocket"), 4, 4)["model.embed_tokens.weight"].T,
    ),
    *(_family(_published(name)) for name in ("Qwen3", "Gemma 3", "Mistral", "gpt-oss")),
    *(_state(kind) for kind in ("lfm2", "mamba")),
    _folder("numpy", family_templates.LLAMA3, LLAMA3, "<|eot_id|>"),
    _folder("torch", family_templates.QWEN3, QWEN3, "<|im_end|>"),
    _folder("torch", family_templates.QWEN3, QWEN3, "<|im_end|>", network="Mamba"),
    _server("llama-server", "regenerates"),
    _server("sglang", "exact"),
    _server("vllm", "exact"),
    _server("openai", "regenerates", rollback="none", tokenises=False),
)
