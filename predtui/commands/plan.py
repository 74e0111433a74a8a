"""``predtui models plan MODEL``: whether a model fits here, how fast it may be, and what to choose instead.

Reads headers and configurations, never weights. Imports what it needs when it is asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from predtui.commands.with_settings import with_settings
from predtui.settings import LlmSettings, Settings

if TYPE_CHECKING:
    from predtui.llm.base import ModelRequest
    from predtui.llm.plan import Plan
    from predtui.models.places import Form

CONTEXTS = (2048, 4096, 8192, 16384, 32768, 131072)


@dataclass(frozen=True, slots=True)
class Planned:
    """``path``: file or folder; ``files``: how many hold the weights; ``name``: for the screen; ``draft``: the model
    that drafts for it, in what it leaves free, where one is chosen."""

    plan: Plan
    path: Path
    engine: str
    files: int
    name: str
    draft: Planned | None = None

    @property
    def fits(self) -> bool:
        """Both."""
        return self.plan.fits and (self.draft is None or self.draft.fits)

    @property
    def crowded(self) -> bool:
        """Either beside the other."""
        return self.plan.crowded or (self.draft is not None and self.draft.crowded)


@with_settings
def plan(
    settings: Settings,
    model: Annotated[str, typer.Argument(help="A GGUF file, a folder, or a name, as --model takes it.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of lines.")] = False,
) -> None:
    """Tell what a model, and the draft model that --decoder and --drafter choose, takes of memory before it is loaded:
    weights, cache and buffers against what is free in RAM and on each GPU, how long a token may take, and what to
    choose instead. Exit status 1 where it does not fit."""
    found = with_draft(look(replace(settings.llm, model=model)), settings.llm)
    if as_json:
        print(json.dumps(_as_json(found), indent=1))
    else:
        for line in _lines(found):
            print(line)
    raise typer.Exit(0 if found.fits else 1)


def with_draft(found: Planned, settings: LlmSettings) -> Planned:
    """The same with the draft model of these settings beside it, where they choose one. Raises PredtuiError as
    ``look``."""
    from predtui.decoding.assembly import AUTO, DecodingOptions

    decoding = DecodingOptions(settings.decoder, settings.drafter, settings.draft)
    if settings.decoder == AUTO or "draft" not in decoding.needs | decoding.takes:
        return found
    from predtui.errors import PredtuiError
    from predtui.llm.base import ModelRequest
    from predtui.llm.default import language_model

    draft = language_model(settings.draft, "llamacpp")
    try:
        return replace(found, draft=_of_gguf(ModelRequest(draft, caches=decoding.draft_caches), found.plan))
    except PredtuiError:
        if "draft" in decoding.needs:
            raise
        return found


def look(settings: LlmSettings) -> Planned:
    """What the model of these settings would take, and how. Raises PredtuiError where there is none, or it is none to
    talk with."""
    from predtui.llm.default import language_model
    from predtui.llm.llamacpp.engine import request_of
    from predtui.llm.weights import GGUF
    from predtui.models.places import find
    from predtui.models.shipped import MODELS, place

    model = language_model(settings.model, settings.engine, folder=settings.folder)
    form: Form = "folder" if settings.engine == "torch" else "gguf"
    folder = place(model) if model in MODELS else find(model, form)
    if folder.is_dir() and not any(folder.glob("*.safetensors")) and (folder / GGUF).is_file():
        return _of_gguf(request_of(replace(settings, model=str(folder / GGUF))))
    if settings.engine == "torch" or (model not in MODELS and folder.is_dir()):
        return _of_folder(folder, settings)
    return _of_gguf(request_of(replace(settings, model=model)))


def _of_gguf(request: ModelRequest, beside: Plan | None = None) -> Planned:
    from predtui.llm.gguf import read_header
    from predtui.llm.llamacpp.engine import file_of
    from predtui.llm.llamacpp.planning import planned, rated, threads_of
    from predtui.llm.llamacpp.rate import rate
    from predtui.llm.unfit import refuse_unfit
    from predtui.models.published import name_of

    path = file_of(request.model)
    header = read_header(path)
    refuse_unfit(path, header.metadata)
    threads = threads_of(request, header.parameters)
    tried = planned(header, request, beside=beside)
    return Planned(
        rated(tried, rate(header.weights, threads)), path, "llamacpp", len(header.parts), name_of(request.model, path)
    )


def _of_folder(folder: Path, settings: LlmSettings) -> Planned:
    from predtui.llm.llamacpp.engine import request_of
    from predtui.llm.llamacpp.planning import rated
    from predtui.llm.llamacpp.rate import rate
    from predtui.llm.threads import default_threads
    from predtui.llm.torch.planning import find, planned

    folder = find(str(folder))
    tried = planned(folder, request_of(settings))
    threads = settings.threads or default_threads(tried.network.parameters)
    files = len(list(folder.glob("*.safetensors")))
    return Planned(rated(tried, rate((), threads)), folder, "torch", files, folder.name)


def _lines(found: Planned) -> Iterator[str]:
    from predtui.llm.memory import told

    tried, network, ask = found.plan, found.plan.network, found.plan.ask
    yield f"{found.path}: {network.architecture}, {network.parameters / 1e9:.2f}B weights, {network.bits:.1f} bits each"
    yield _row("weights", told(network.weights), f"in {found.files} files" if found.files > 1 else "")
    others = ", ".join(f"{told(size)} for {context:,}" for context, size in _contexts(found))
    yield _row(
        "cache", told(tried.cache), f"for {ask.context:,} tokens in {ask.kv}" + (f"; {others}" if others else "")
    )
    yield _row("buffers", told(tried.buffers), f"about, for {ask.batch} tokens at once")
    mapped = (
        f", and {told(tried.in_ram)} of weights that the system may take back" if ask.mapped and tried.in_ram else ""
    )
    yield _row("RAM", told(tried.held), f"of {told(tried.ram.free)} free, {told(tried.ram.total)} in all{mapped}")
    for gpu, layers, needed in zip(tried.gpus, tried.layers, tried.on_gpus, strict=True):
        yield _row(gpu.name, told(needed), f"of {told(gpu.free)} free, {layers} of {len(network.layers) + 1} layers")
    yield _row("a token", _pace(tried), _reads(tried))
    if found.draft:
        yield _row("draft", told(found.draft.plan.needed), _draft(found.draft))
    if not tried.fits:
        yield f"✗ It does not fit. Choose {_instead(found) or 'a smaller model, or free some memory'}."
    elif not found.fits:
        yield f"✗ It does not fit beside its draft. Choose {_instead(found)}."
    elif found.crowded:
        yield "✓ It fits beside no other large program: it will read weights from the disk over and over."
    else:
        yield "✓ It fits."


def _draft(draft: Planned) -> str:
    from predtui.llm.llamacpp.planning import caches_of
    from predtui.llm.memory import told

    tried = draft.plan
    parts = f"{told(tried.network.weights)} of weights, {told(tried.cache)} of {caches_of(tried.ask)}"
    return f"more for {draft.name}: {parts}, {told(tried.buffers)} of buffers"


def _row(name: str, size: str, rest: str) -> str:
    return f"  {name:<9}{size:>10}  {rest}".rstrip()


def _contexts(found: Planned) -> Iterator[tuple[int, int]]:
    """Other lengths of the context that the model was trained for, and bytes of their caches."""
    network, ask = found.plan.network, found.plan.ask
    for context in CONTEXTS:
        if context != ask.context and context <= network.context:
            cells = ask.cells - ask.context + context
            yield context, network.cache(cells, ask.kv, ask.beyond, ask.states, ask.flash)


def _pace(tried: Plan) -> str:
    seconds = tried.seconds
    return f"{1000 * seconds:,.1f} ms" if seconds else "unknown"


def _reads(tried: Plan) -> str:
    from predtui.llm.memory import told

    reads = sum(tried.network.reads(tried.ask.context // 2, tried.ask.kv))
    at = f" at {told(tried.ram.rate)} a second" if tried.ram.rate and not any(tried.layers) else ""
    return f"expected with the context half full, by the {told(reads)} that it reads{at}"


def _instead(found: Planned) -> str:
    """What to choose where it does not fit; empty where nothing that is known would."""
    from predtui.decoding.assembly import SMALLER_DRAFT
    from predtui.llm.plan import advice

    if not found.plan.fits:
        return advice(found.plan, settings=found.engine == "llamacpp")
    return "" if found.fits else SMALLER_DRAFT


def _as_json(found: Planned) -> dict[str, Any]:
    tried, network, ask = found.plan, found.plan.network, found.plan.ask
    return {
        "model": str(found.path),
        "engine": found.engine,
        "architecture": network.architecture,
        "parameters": network.parameters,
        "files": found.files,
        "context": ask.context,
        "kv_type": ask.kv,
        "bytes": {"weights": network.weights, "cache": tried.cache, "buffers": tried.buffers},
        "cache_by_context": {str(context): size for context, size in _contexts(found)},
        "ram": {"needed": tried.held, "mapped": tried.in_ram if ask.mapped else 0, "free": tried.ram.free,
                "total": tried.ram.total},
        "gpus": [
            {"name": gpu.name, "layers": layers, "needed": needed, "free": gpu.free, "total": gpu.total}
            for gpu, layers, needed in zip(tried.gpus, tried.layers, tried.on_gpus, strict=True)
        ],
        "layers": len(network.layers) + 1,
        "ms_per_token": None if tried.seconds is None else round(1000 * tried.seconds, 3),
        "draft": None if found.draft is None else _draft_as_json(found.draft),
        "fits": found.fits,
        "crowded": found.crowded,
        "instead": _instead(found),
    }  # fmt: skip


def _draft_as_json(draft: Planned) -> dict[str, Any]:
    tried = draft.plan
    return {
        "model": str(draft.path),
        "caches": tried.ask.caches,
        "bytes": {"weights": tried.network.weights, "cache": tried.cache, "buffers": tried.buffers},
        "needed": tried.needed,
        "fits": tried.fits,
    }
