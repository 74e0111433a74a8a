"""Guesses at a reply as a source of drafts: the candidates that it had for other prompts. Must not know of models.

Replies to two prompts often differ in a word, and go on alike behind it. So a guess stays at its place for as long as
some of it is accepted, whatever it said in the place of what was not; once nothing of it is, it goes on where the last
tokens stand in it again, since a word may be longer there, or shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from predtui.decoding.base import WIDEST
from predtui.decoding.draft import Draft, unless_sequence
from predtui.decoding.prefix_tree import PrefixTree
from predtui.llm.base import common_prefix

GRAM = 2
"""Tokens that have to stand in a guess for it to go on behind them."""
OTHERS = 0.25
"""How likely a guess is right where the one before it is not."""
NOWHERE = -1
SOURCE = "guess"


class Guesses:
    """Those at one reply, the likeliest first."""

    def __init__(self, guesses: Iterable[Sequence[int]] = (), branching: bool = True) -> None:
        """``branching``: whether the target evaluates trees; else one guess at a time is followed."""
        self._guesses = [tuple(guess) for guess in dict.fromkeys(map(tuple, guesses)) if guess]
        self._places = [0] * len(self._guesses)
        self._recent: tuple[int, ...] = ()
        self._branching = branching

    def draft(self, budget: int, rate: float = 1.0) -> Draft:
        """At most ``budget`` tokens that may follow; where guesses differ, as a tree of the likeliest, at most
        ``WIDEST``. ``rate``: how likely a token is accepted after one that was."""
        runs = [guess[place:] for guess, place in zip(self._guesses, self._places, strict=True) if place >= 0]
        runs = [run for run in runs if run]
        if not runs or budget < 1:
            return Draft(())
        if not self._branching or all(run == runs[0][: len(run)] for run in runs):
            return Draft(runs[0][:budget], source=SOURCE)
        return _tree(runs, min(budget, WIDEST), rate)

    def follow(self, tokens: Sequence[int]) -> None:
        """These have come."""
        self._recent = (*self._recent, *tokens)[-GRAM:]
        for number, (guess, place) in enumerate(zip(self._guesses, self._places, strict=True)):
            held = place >= 0 and common_prefix(guess[place:], tokens) > 0
            self._places[number] = place + len(tokens) if held else _behind(guess, self._recent)


def _tree(runs: Sequence[tuple[int, ...]], budget: int, rate: float) -> Draft:
    """The likeliest tokens of the runs; what these share is in it once."""
    tree = PrefixTree()
    chances: list[float] = []
    for rank, run in enumerate(runs):
        for depth, node in enumerate(tree.add(run[:budget]), 1):
            if node == len(chances):
                chances.append((OTHERS if rank else 1.0) * rate**depth)
    kept = sorted(sorted(range(len(tree)), key=lambda node: -chances[node])[:budget])
    place = {-1: -1} | {node: number for number, node in enumerate(kept)}
    parents = [place[tree.parents[node]] for node in kept]
    return Draft(tuple([tree.tokens[node] for node in kept]), unless_sequence(parents), source=SOURCE)


def rest(guess: Sequence[int], reply: Sequence[int]) -> Sequence[int]:
    """What ``guess`` goes on with where the reply begins with ``reply``: behind as many tokens, where they differ in
    the last one at most; else behind the last few, where these stand in it."""
    if common_prefix(guess, reply) >= len(reply) - 1:
        return guess[len(reply) :]
    place = _behind(guess, reply[-GRAM:])
    return () if place == NOWHERE else guess[place:]


def _behind(guess: Sequence[int], recent: Sequence[int]) -> int:
    """The place behind the ``recent`` tokens in ``guess``, the last few; ``NOWHERE`` where they do not stand in it."""
    found = (place for place in range(GRAM, len(guess)) if tuple(guess[place - GRAM : place]) == tuple(recent))
    return next(found, NOWHERE)
