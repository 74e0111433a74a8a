"""One door to every model: a name or a path and an engine in, a ``LoadedModel`` out.

Engines are imported when asked for, so that none costs a start that does not use it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, Stale, never
from predtui.llm.gguf import read_header
from predtui.shipped import MODELS, model_folder

ENGINES = {
    "llamacpp": "predtui.llm.load:load_llamacpp",
    "scripted": "predtui.llm.scripted:load",
    "torch": "predtui.llm.huggingface:load",
}
"""Name: "module:function" of what loads a model in that engine, with the arguments of ``load`` but for the name."""
Loader = Callable[[str, str, int | None, int, Stale], LoadedModel]
"""Name, engine, threads, context, stale: ``load``, or what lends a model that is already loaded."""
POCKET, POCKET_DRAFT = "pocket", "pocket-draft"


def load(
    model: str = POCKET,
    engine: str = "llamacpp",
    threads: int | None = None,
    context: int = 0,
    stale: Stale = never,
) -> LoadedModel:
    """The model at a path, or ``pocket`` for the one that ships with predtui, ``pocket-draft`` for its draft,
    ``pocket-cllm`` for the one that is tuned for Jacobi decoding (a GGUF file alone).

    ``threads`` None: as many as suit the model. ``context`` in tokens, 0: the model's own within reason.
    ``stale`` lets a long evaluation be abandoned (Preempted). Raises PredtuiError with what to do.
    """
    if engine not in ENGINES:
        raise PredtuiError(f"There is no engine {engine!r}.", f"Choose one of {', '.join(sorted(ENGINES))}.")
    if engine == "torch":
        _need_torch()
    module, function = ENGINES[engine].split(":")
    loaded = getattr(importlib.import_module(module), function)(model, threads, context, stale)
    assert isinstance(loaded, LoadedModel)
    return loaded


def inspect(model: str = POCKET, engine: str = "llamacpp") -> str:
    """A line on a model's file or folder, without its weights. Raises PredtuiError for one that cannot be loaded."""
    if engine == "torch":
        _need_torch()
        from predtui.llm.huggingface import describe

        return describe(model)
    path = _path(model)
    header = read_header(path)
    name = header.metadata.get("general.name", path.stem)
    kind = header.metadata.get("general.architecture", "unknown")
    return f"{name} ({kind}, {header.size / 2**20:.1f} MB), {path}"


def _need_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        raise PredtuiError("The torch engine needs PyTorch.", "Install it: pip install 'predtui[torch]'")


def load_llamacpp(model: str, threads: int | None, context: int, stale: Stale) -> LoadedModel:
    """A GGUF file in llama.cpp."""
    import llama_cpp

    from predtui.llm.llamatree import open_model
    from predtui.llm.vocab import GgufTokenizer, chat_template

    path = _path(model)
    network = open_model(path, threads, context, stale)
    device = "gpu" if llama_cpp.llama_supports_gpu_offload() else "cpu"
    try:
        template = chat_template(network.handle, network.vocab)
    except PredtuiError:
        network.close()
        raise
    name = model if model in MODELS else path.stem
    tokenizer, pad = GgufTokenizer(network.vocab), llama_cpp.llama_vocab_pad(network.vocab)
    return LoadedModel(
        name, "llama.cpp", device, network.parameters, network, tokenizer, template, None if pad < 0 else pad
    )


def place(model: str) -> Path:
    """The folder of a model that ships, or the path that is given, which need not exist."""
    return model_folder(model) if model in MODELS else Path(model).expanduser()


def _path(model: str) -> Path:
    return place(model) / "model.gguf" if model in MODELS else place(model)
