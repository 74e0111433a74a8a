"""One door to every model: a name or a path and an engine in, a ``LoadedModel`` out.

Engines are imported when asked for, so that none costs a start that does not use it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, Stale, never
from predtui.llm.gguf import read_header
from predtui.llm.llamacpp import compile as build
from predtui.llm.llamacpp.repacking import AUTO, untested
from predtui.models.published import SMOLLM2, needed
from predtui.models.shipped import MODELS, POCKET, place

ENGINES = {
    "llamacpp": "predtui.llm.load:load_llamacpp",
    "numpy": "predtui.llm.numpy.folder:load",
    "scripted": "predtui.llm.scripted:load",
    "torch": "predtui.llm.torch.folder:load",
}
"""Name: "module:function" of what loads a model in that engine, with the arguments of ``load`` but for the name."""
Loader = Callable[[str, str, int | None, int, Stale], LoadedModel]
"""Name, engine, threads, context, stale: ``load``, or what lends a model that is already loaded."""


def load(
    model: str = POCKET,
    engine: str = "llamacpp",
    threads: int | None = None,
    context: int = 0,
    stale: Stale = never,
    weights: str = AUTO,
) -> LoadedModel:
    """The model at a path, or ``pocket`` for the one that ships with predtui, ``pocket-draft`` for its draft,
    ``pocket-cllm`` for the one that is tuned for Jacobi decoding (a GGUF file alone), ``smollm2`` for the real one,
    where that is installed.

    ``threads`` None: as many as suit the model. ``context`` in tokens, 0: the model's own within reason.
    ``stale`` lets a long evaluation be abandoned (Preempted). ``weights``: how llama.cpp holds them, as in
    ``repacking``; for other engines it means nothing. Raises PredtuiError with what to do.
    """
    if engine not in ENGINES:
        raise PredtuiError(f"There is no engine {engine!r}.", f"Choose one of {', '.join(sorted(ENGINES))}.")
    _suits(model, engine)
    if engine == "llamacpp" and not build.available():
        engine = _stand_in(model)
    module, function = ENGINES[engine].split(":")
    options = {"weights": weights} if engine == "llamacpp" else {}
    loaded = getattr(importlib.import_module(module), function)(model, threads, context, stale, **options)
    assert isinstance(loaded, LoadedModel)
    return loaded


def inspect(model: str = POCKET, engine: str = "llamacpp") -> str:
    """A line on a model's file or folder, without its weights. Raises PredtuiError for one that cannot be loaded."""
    _suits(model, engine)
    if engine == "torch":
        from predtui.llm.torch.folder import describe

        return describe(model)
    if engine == "numpy":
        from predtui.llm.numpy.folder import describe as describe_folder

        return describe_folder(model)
    path = file_of(model)
    header = read_header(path)
    name = header.metadata.get("general.name", path.stem)
    kind = header.metadata.get("general.architecture", "unknown")
    return f"{name} ({kind}, {header.size / 2**20:.1f} MB), {path}"


def announced(model: str, engine: str, threads: int, weights: str) -> str:
    """What ``load`` is about to do, in words, for the one who waits."""
    if engine == "llamacpp" and weights == AUTO and build.available():
        from predtui.llm.llamacpp.threads import llama_threads

        with suppress(PredtuiError):
            header = read_header(file_of(model))
            if untested(header.weights, threads or llama_threads(header.parameters)):
                return f"testing, once, whether this processor can run {model} faster"
    return f"loading {model}"


def stands_in(model: str, engine: str) -> bool:
    """Whether numpy runs ``model`` as long as llama.cpp, which is asked for, is not there."""
    return engine == "llamacpp" and model in MODELS and (place(model) / "config.json").is_file()


def _stand_in(model: str) -> str:
    """The engine for a model while there is no llama.cpp. Raises PredtuiError where there is none."""
    if stands_in(model, "llamacpp"):
        return "numpy"
    raise PredtuiError(
        f"{build.current() or 'llama.cpp is not installed'}.", f"Choose {POCKET} meanwhile, or: {build.REMEDY}"
    )


def _suits(model: str, engine: str) -> None:
    """Raises PredtuiError for an engine that is not there, or does not read what the model is."""
    if engine in ("torch", "numpy") and model == SMOLLM2.name:
        raise PredtuiError(
            f"{model} is a GGUF file, which the {engine} engine does not read.", "Choose --engine llamacpp."
        )
    if engine == "torch" and importlib.util.find_spec("torch") is None:
        raise PredtuiError("The torch engine needs PyTorch.", "Install it: pip install 'predtui[torch]'")


def load_llamacpp(model: str, threads: int | None, context: int, stale: Stale, weights: str = AUTO) -> LoadedModel:
    """A GGUF file in llama.cpp."""
    import llama_cpp

    from predtui.llm.llamacpp.tree import open_model
    from predtui.llm.llamacpp.vocab import GgufTokenizer, chat_template

    path = file_of(model)
    network = open_model(path, threads, context, stale, weights)
    device = "gpu" if llama_cpp.llama_supports_gpu_offload() else "cpu"
    try:
        template = chat_template(network.handle, network.vocab)
    except PredtuiError:
        network.close()
        raise
    name = model if model in (*MODELS, SMOLLM2.name) else path.stem
    tokenizer, pad = GgufTokenizer(network.vocab), llama_cpp.llama_vocab_pad(network.vocab)
    return LoadedModel(
        name, "llama.cpp", device, network.parameters, network, tokenizer, template, None if pad < 0 else pad
    )


def file_of(model: str) -> Path:
    """The GGUF file of a model that ships, or the path that is given, which need not exist. Raises PredtuiError for the
    real model where it is not installed."""
    if model == SMOLLM2.name:
        return needed(SMOLLM2)
    return place(model) / "model.gguf" if model in MODELS else place(model)
