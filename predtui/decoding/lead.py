"""Which of two guessers to follow, one that has learnt and one that has not: the one with more right guesses of late.

Follow the leader (Hannan 1957), with a lead that is bounded, so that what was won on one kind of text is not staked on
another. On any stretch of text, what is lost by following the one that has learnt is at most ``MOST`` + 1 tokens more
than what is won by it, and a token more for each that it would have won while it was not followed. So one that is never
right where the other is wrong costs ``MOST`` + 1 tokens, however long it goes on. Must not know of models, or of how
either guesses.
"""

from __future__ import annotations

MOST = 1
"""Tokens, either way."""


class Lead:
    """Of the guesser that has learnt."""

    def __init__(self) -> None:
        self._tokens = 0

    @property
    def behind(self) -> bool:
        """Whether the other is to be followed."""
        return self._tokens < 0

    def count(self, learnt: bool, other: bool) -> None:
        """A token came: which of them had guessed it, whether that was followed or not."""
        self._tokens = max(-MOST, min(MOST, self._tokens + learnt - other))
