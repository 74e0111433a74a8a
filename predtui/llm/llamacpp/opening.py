"""Opens a GGUF file as what its network can be: what takes trees, or what keeps a state. Must not know of text."""

from __future__ import annotations

from pathlib import Path

from predtui.llm.base import ModelRequest, Stale, Told, never, unheard
from predtui.llm.gguf import GgufHeader
from predtui.llm.llamacpp.model import LlamaCppModel
from predtui.llm.llamacpp.repacking import AUTO
from predtui.llm.llamacpp.states import LlamaStateModel
from predtui.llm.llamacpp.tree import LlamaTreeModel
from predtui.llm.llamacpp.weights import LlamaWeights
from predtui.llm.placement import USUAL, Placement


def open_model(
    path: Path,
    threads: int | None = None,
    context: int = 0,
    stale: Stale = never,
    weights: str = AUTO,
    placement: Placement = USUAL,
    told: Told = unheard,
    header: GgufHeader | None = None,
    caches: int = 1,
    room: int | None = None,
) -> LlamaCppModel:
    """The file's network. Arguments as of ``ModelRequest``; ``header``: the file's own, where that was read. Raises
    PredtuiError for a file that cannot be loaded or run."""
    request = ModelRequest(str(path), threads, context, stale, weights, placement, told, caches, room)
    held = LlamaWeights(path, request, header)
    kind = LlamaStateModel if held.recurrent else LlamaTreeModel
    return kind(held, context, stale)
