"""One door to every model: a name or a path and an engine in, a ``LoadedModel`` out.

Engines are imported when asked for, so that none costs a start that does not use it. Must not know of any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from predtui.llm.base import LoadedModel, ModelRequest, Stale, Told, never, unheard
from predtui.llm.placement import USUAL, Placement
from predtui.models.shipped import POCKET
from predtui.registry import LLM_ENGINES
from predtui.system.threads import limit

Loader = Callable[[str, str, int | None, int, Stale], LoadedModel]
"""Name, engine, threads, context, stale: ``load``, or what lends a model that is already loaded."""
DraftLoader = Callable[[str, str, int | None, int, Stale, int, int | None], LoadedModel]
"""The same with the number of caches that the draft is going to hold, and the bytes that it may take."""


def load(
    model: str = POCKET,
    engine: str = "llamacpp",
    threads: int | None = None,
    context: int = 0,
    stale: Stale = never,
    caches: int = 1,
    room: int | None = None,
    weights: str = "",
    placement: Placement = USUAL,
    told: Told = unheard,
) -> LoadedModel:
    """The model at a path, or ``pocket`` for the one that ships with predtui, ``pocket-draft`` for its draft,
    ``pocket-cllm`` for the one that is tuned for Jacobi decoding (a GGUF file alone), ``smollm2`` for the real one,
    where that is installed; the other arguments as in ``ModelRequest``, but ``threads`` are those of this process's
    numeric libraries too. Raises PredtuiError with what to do."""
    if threads:
        limit(threads)
    request = ModelRequest(model, threads, context, stale, weights, placement, told, caches, room)
    loaded = LLM_ENGINES.factory(engine)(request)
    assert isinstance(loaded, LoadedModel)
    from predtui.llm.stops import stops_of

    try:
        return replace(loaded, stops=stops_of(loaded.template, loaded.tokenizer))
    except BaseException:
        loaded.model.close()
        raise


def inspect(model: str = POCKET, engine: str = "llamacpp") -> str:
    """A line on a model's file or folder, without its weights. Raises PredtuiError for one that cannot be loaded."""
    check = LLM_ENGINES.check(engine)
    return check(model) if check else model


def preparing(engine: str, request: ModelRequest) -> Iterator[tuple[str, float]]:
    """What loading waits for, then what it is about to do: a line for the one who waits, and how far it has come, 0..1,
    or -1 where that is unknown. Raises PredtuiError for an engine that is none."""
    prepare = LLM_ENGINES.prepare(engine)
    yield from prepare(request) if prepare else [(f"loading {request.model}", -1.0)]
