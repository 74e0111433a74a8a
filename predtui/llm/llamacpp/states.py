"""llama.cpp for networks that keep a state (Mamba, RWKV, and hybrids of those with attention): it cannot be cut back.

Copies of the state are kept where calls are seen to come back to, and a call that goes back goes on from the last copy
before. Must not know of text, or of why a call comes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import llama_cpp

from predtui.llm.abilities import Abilities
from predtui.llm.base import Stale, never
from predtui.llm.llamacpp.batch import Saved
from predtui.llm.llamacpp.model import LlamaCppModel
from predtui.llm.llamacpp.weights import LlamaWeights

NEAR = 8
"""Tokens that are rather evaluated again than a copy made: about what the forward that a copy divides costs more."""
BEHIND = 16
"""Tokens of a long prompt behind its last copy: a template's end of a message and beginning of the next, in which the
calls that follow part from it."""
MOST_COPIES, LEAST_COPIES = 8, 2
BYTES = 2**29
"""What the copies may take together, unless the fewest of them take more."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """The state after so many tokens of what is remembered."""

    tokens: int
    state: Saved


class LlamaStateModel(LlamaCppModel):
    """Going back costs the tokens behind the last copy before, and is never wrong: a state that was halted amid a
    forward is not used again."""

    SEQUENCES = 1
    """llama.cpp reserves a whole state for each."""

    def __init__(self, weights: LlamaWeights, context: int = 0, stale: Stale = never) -> None:
        self._copies: list[_Copy] = []
        """In the order of their tokens."""
        super().__init__(weights, context, stale)

    @property
    def abilities(self) -> Abilities:
        return replace(super().abilities, rollback=NEAR)

    @property
    def going_back(self) -> str:
        """What it takes, in words."""
        size = Saved(self._context, 0, state=True).size if self._memory else 0
        return (
            f"the network keeps a state, which cannot be cut back to a word: up to {_most(size)} copies of it, "
            f"{size / 2**20:,.1f} MB each, are kept, and going back evaluates what follows the last of them again, "
            f"about {2 * NEAR} tokens a word"
        )

    def _cut_back(self, keep: int) -> int:
        return self._go_back(keep) if keep < len(self._memory) else keep

    def _halted(self, sequences: int) -> None:
        self._go_back(len(self._memory))

    def _go_back(self, keep: int) -> int:
        """To the last copy within ``keep`` tokens, or to none at all; how many tokens are remembered then."""
        self._copies = [copy for copy in self._copies if copy.tokens <= keep]
        while self._copies and not self._restored(self._copies[-1]):
            del self._copies[-1]
        if self._copies:
            del self._memory[self._copies[-1].tokens :]
        else:
            self._forget_all()
        return len(self._memory)

    def _forget_all(self) -> None:
        super()._forget_all()
        self._copies.clear()

    def _restored(self, copy: _Copy) -> bool:
        """Whether the cache is as it was then: the state is put back first, and what can be cut is cut to it."""
        return copy.state.restore(0) and bool(llama_cpp.llama_memory_seq_rm(self._kv, 0, copy.tokens, -1))

    def _pieces(self, start: int, wanted: int, first_row: int, end: int) -> Iterator[tuple[int, int]]:
        """Ends pieces where a copy of the state is to be made, and makes it when the next one is asked for."""
        for place in self._places(start, wanted, end):
            yield from super()._pieces(start, wanted, first_row, place)
            self._copy()
            start = place
        yield from super()._pieces(start, wanted, first_row, end)

    def _places(self, start: int, wanted: int, end: int) -> Iterator[int]:
        """Where to make copies on the way from ``start`` to ``end``, each a number of tokens, rising: where several
        tokens are to go on from, as they may be rejected; where this call parts from the one before (``wanted``), as
        the next one may, too; now and then in a long prompt, as it may be halted; and shortly before its end."""
        known = self._copies[-1].tokens if self._copies else 0
        places = [start] if end - start > 1 else []
        step = max(self._pace.size, 8 * NEAR)
        places += [wanted, *range(start + step, end - step, step)]
        if end - max(start, wanted) > BEHIND + 8 * NEAR:
            places.append(end - BEHIND)
        for place in sorted(places):
            if place - known >= NEAR and start <= place < end:
                known = place
                yield place

    def _copy(self) -> None:
        """Keep the state that the memory ends in. Where there are too many copies, one goes, such that the others lie
        the closer the nearer they are to the end: to go back by so many tokens costs a share of so many."""
        self._copies.append(_Copy(len(self._memory), Saved(self._context, 0, state=True)))
        while len(self._copies) > _most(self._copies[-1].state.size):
            places = [0, *(copy.tokens for copy in self._copies)]
            gaps = [(place - before) / (places[-1] - place + NEAR) for before, place in pairwise(places[:-1])]
            del self._copies[gaps.index(min(gaps))]


def _most(size: int) -> int:
    """Copies of so many bytes."""
    return min(max(BYTES // max(size, 1), LEAST_COPIES), MOST_COPIES)
