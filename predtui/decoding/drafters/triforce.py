"""TriForce (Sun et al. 2024), LongSpec (Yang et al. 2025): the target's own weights draft, with a cache of fixed size.

The cache holds the first few tokens and the latest ones, as StreamingLLM's (Xiao et al. 2023) does, however long the
context is. As in TriForce the draft is itself drafted: by what those weights thought likely before (Token Recycling),
in place of a second, smaller model. Where the abstracts leave a gap: nothing is retrieved out of the target's cache,
which engines do not show, and no draft is trained, as LongSpec's is; ``rapid`` drafts from what is retrieved as text.
It pays where a forward over the target's cache costs much more than one over the window's, so in contexts of tens of
thousands of tokens: in a short one a token of the draft costs what one of the reply does. Must not know of engines.
"""

from __future__ import annotations

from typing import cast

from predtui.decoding.base import Drafter
from predtui.decoding.drafters import recycling
from predtui.decoding.drafters.recycling import CANDIDATES
from predtui.decoding.drafters.specmquant import Settled
from predtui.decoding.parts import Parts
from predtui.llm.windows import CELLS, WindowModel

FEWEST = 128
"""Tokens that the cache holds at least."""


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError where the engine can open no window over this model, or there is no room for one."""
    target = parts.target
    target.require("TriForce", top=CANDIDATES, logprob=True)
    trees = recycling.of(parts, "triforce", target.model, branching=False)
    model = cast(WindowModel, target.model)
    cell = -(-model.window_bytes(CELLS) // CELLS)
    window = model.window(parts.memory.table("triforce", CELLS * cell, FEWEST * cell) // cell)
    return Settled(window, parts.sampler, target.tokenizer.is_end, trees, "triforce")
