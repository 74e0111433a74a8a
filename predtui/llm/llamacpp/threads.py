"""How many threads llama.cpp takes: those of the library that is compiled for predtui give way to others (barrier.h),
and so may take all cores. Must not know of models."""

from __future__ import annotations

import functools

from predtui.llm.threads import default_threads


def llama_threads(parameters: int) -> int:
    """At most, for a model of so many parameters."""
    return default_threads(parameters, gives_way())


@functools.cache
def gives_way() -> bool:
    """Whether the library that is installed is one whose threads do."""
    import llama_cpp

    return hasattr(llama_cpp.llama_cpp._lib, "predtui_gives_way")
