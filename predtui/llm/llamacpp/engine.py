"""GGUF files in llama.cpp, as an engine of the registry. While there is no llama.cpp, numpy runs the models that ship.

Must not know of prompts or of how tokens are chosen. llama.cpp is imported when a model is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, ModelRequest, never
from predtui.llm.gguf import GgufHeader, read_header
from predtui.llm.llamacpp import compile as build
from predtui.llm.llamacpp.planning import planned, threads_of
from predtui.llm.llamacpp.repacking import AUTO, untested
from predtui.llm.placement import Placement
from predtui.llm.unfit import refuse_unfit
from predtui.models.places import find
from predtui.models.published import SMOLLM2, name_of, needed
from predtui.models.shipped import MODELS, POCKET, place
from predtui.settings import LlmSettings

_ahead: dict[tuple[object, ...], GgufHeader] = {}
"""The header that ``prepare`` has read, by the state of its file, for the ``load`` that follows."""


def load(request: ModelRequest) -> LoadedModel:
    """The model of a GGUF file. Raises PredtuiError with what to do."""
    if not build.available():
        return _stand_in(request)
    import llama_cpp

    from predtui.llm.llamacpp.opening import open_model
    from predtui.llm.llamacpp.vocab import GgufTokenizer, chat_template

    path = file_of(request.model)
    network = open_model(
        *(path, request.threads, request.context, request.stale, request.weights or AUTO),
        *(request.placement, request.told, _ahead.pop(_state(path), None), request.caches, request.room),
    )
    device = "gpu" if llama_cpp.llama_supports_gpu_offload() else "cpu"
    try:
        template = chat_template(network.handle, network.vocab)
    except PredtuiError:
        network.close()
        raise
    name = name_of(request.model, path)
    tokenizer, pad = GgufTokenizer(network.vocab), llama_cpp.llama_vocab_pad(network.vocab)
    return LoadedModel(
        *(name, "llama.cpp", device, network.parameters, network, tokenizer, template),
        pad=None if pad < 0 else pad,
        footprint=network.footprint,
    )


def describe(model: str) -> str:
    """A line on a model's file, without its weights. Raises PredtuiError for one that cannot be loaded."""
    path = file_of(model)
    header = read_header(path)
    refuse_unfit(path, header.metadata)
    name = header.metadata.get("general.name", path.stem)
    kind = header.metadata.get("general.architecture", "unknown")
    return f"{name} ({kind}, {header.size / 2**20:.1f} MB), {path}"


def prepare(request: ModelRequest) -> Iterator[tuple[str, float]]:
    """Waits for a compile that is under way, unless numpy can run the model meanwhile; then says what loading it will
    do. Each step is a line and how far it has come, 0..1, or -1 where that is unknown."""
    if not stands_in(request.model):
        for compiling in build.until_done():
            yield str(compiling), compiling.fraction
    yield _about_to(request), -1.0


def stands_in(model: str) -> bool:
    """Whether numpy can run ``model`` while there is no llama.cpp."""
    return model in MODELS and (place(model) / "config.json").is_file()


def request_of(settings: LlmSettings) -> ModelRequest:
    """What these settings ask of an engine."""
    placement = Placement.of(settings)
    return ModelRequest(settings.model, settings.threads or None, settings.context, never, settings.weights, placement)


def file_of(model: str) -> Path:
    """The GGUF file of a model that ships, of a path, which need not exist, or of any other name. Raises PredtuiError
    for a name of nothing that is here."""
    if model == SMOLLM2.name:
        return needed(SMOLLM2)
    return place(model) / "model.gguf" if model in MODELS else find(model)


def _state(path: Path) -> tuple[object, ...]:
    """What tells whether a file is still the same; nothing where there is none."""
    with suppress(OSError):
        now = path.stat()
        return path, now.st_size, now.st_mtime_ns, now.st_ino
    return ()


def _about_to(request: ModelRequest) -> str:
    if build.available():
        with suppress(PredtuiError):
            path = file_of(request.model)
            header = read_header(path)
            _ahead.clear()
            _ahead[_state(path)] = header
            if request.weights in ("", AUTO) and untested(header.weights, threads_of(request, header.parameters)):
                return f"testing, once, whether this processor can run {request.model} faster"
            return f"loading {request.model}: {planned(header, request).line}"
    return f"loading {request.model}"


def _stand_in(request: ModelRequest) -> LoadedModel:
    if not stands_in(request.model):
        reason = build.current() or "llama.cpp is not installed"
        raise PredtuiError(f"{reason}.", f"Choose {POCKET} meanwhile, or: {build.REMEDY}")
    from predtui.llm.numpy.folder import load as load_in_numpy

    return load_in_numpy(request)
