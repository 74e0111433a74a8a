"""A GGUF file in llama.cpp: its weights, and how they are held. Must not know of caches, or of what is asked."""

from __future__ import annotations

from pathlib import Path

import llama_cpp

from predtui.errors import PredtuiError
from predtui.llm.base import ModelRequest
from predtui.llm.gguf import GgufHeader, read_header
from predtui.llm.llamacpp.devices import chosen, devices
from predtui.llm.llamacpp.log import initialise, last_error
from predtui.llm.llamacpp.parameters import hold, listen, place
from predtui.llm.llamacpp.planning import planned, refuse, threads_of
from predtui.llm.llamacpp.reading import read_ahead
from predtui.llm.llamacpp.repacking import AUTO, REPACKED, SAFEST, may_repack, tiles_are_ours
from predtui.llm.placement import USUAL
from predtui.llm.unfit import refuse_unfit


class LlamaWeights:
    """``handle`` is llama.cpp's pointer, valid until ``close``. ``threads``: the most that a forward takes;
    ``follows``: whether it takes fewer while others work."""

    def __init__(self, path: Path, request: ModelRequest, header: GgufHeader | None = None) -> None:
        """As ``request`` says of threads, context, weights and placement; its model may have another name; ``header``:
        the file's own, where that was read. Raises PredtuiError for a file that cannot be loaded, has no room, or is no
        longer wanted."""
        initialise()
        self.request, self.path, self.header = request, path, header or read_header(path)
        refuse_unfit(path, self.header.metadata)
        self.placement, held = request.placement, request.weights or AUTO
        self.threads = threads_of(request, self.header.parameters)
        self.follows = not request.threads and self.threads > 1
        self.repacked = held == REPACKED or (
            held == AUTO and tiles_are_ours() and may_repack(path, self.header.weights, self.threads)
        )
        self.handle = self._load(request)

    @property
    def recurrent(self) -> bool:
        """Whether the network keeps a state that cannot be cut back to any of its tokens, in some layers at least."""
        return bool(llama_cpp.llama_model_is_recurrent(self.handle) or llama_cpp.llama_model_is_hybrid(self.handle))

    def close(self) -> None:
        if self.handle:
            llama_cpp.llama_model_free(self.handle)
        self.handle = 0

    @property
    def held(self) -> str:
        """What selects the kernels of a forward beside the weights themselves, in words."""
        held = "repacked" if self.repacked else "stored"
        return held if self.placement == USUAL else f"{held} {self.placement}"

    def _load(self, request: ModelRequest) -> int:
        self.plan = plan = planned(self.header, request, self.repacked)
        refuse(self.path, plan, request.room)
        params = llama_cpp.llama_model_default_params()
        params.use_extra_bufts = self.repacked
        hold(params, self.placement.mapped and request.weights != SAFEST, self.placement.locked)
        kept = place(params, self.placement, plan, chosen(self.placement.devices(), devices()))
        kept.append(listen(params, request.told, self.header.size))
        wanted = not plan.ask.mapped or plan.crowded or read_ahead(self.header.parts, request.told)
        model = wanted and llama_cpp.llama_model_load_from_file(str(self.path).encode(), params)
        if not model and not request.told(0, self.header.size):
            raise PredtuiError(f"The loading of {self.path} was given up.")
        if not model:
            kind = self.header.metadata.get("general.architecture", "unknown")
            raise PredtuiError(
                f"llama.cpp cannot load {self.path} (architecture {kind}): {last_error()}.",
                "Choose another model with --model, or update llama-cpp-python.",
            )
        return int(model)
