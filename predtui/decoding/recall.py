"""What followed the same token, and the same two, when they last stood in a context: what a draft without attention may
copy. Must not know of drafts or of models.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.llm.base import common_prefix

NOTHING = -1


class Recall:
    """Follows a context as it grows."""

    def __init__(self) -> None:
        self._context: list[int] = []
        self._followed: dict[int | tuple[int, int], int] = {}
        """A token, or two, to what came after them last."""

    def read(self, context: Sequence[int]) -> None:
        """``context`` is what may be copied from now."""
        known = len(self._context)
        if common_prefix(self._context, context) < known:
            known, self._followed = 0, {}
        for place in range(max(1, known), len(context)):
            self._followed[context[place - 1]] = context[place]
            if place > 1:
                self._followed[context[place - 2], context[place - 1]] = context[place]
        self._context = list(context)

    def after(self, path: Sequence[int]) -> tuple[int, int]:
        """What followed the last token of the context with ``path`` behind it, and the last two: ``NOTHING`` where they
        had not been there."""
        tail = [*self._context[-2:], *path]
        one = two = NOTHING
        for place in range(len(tail) - 2, -1, -1):
            if tail[place] == tail[-1] and one == NOTHING:
                one = tail[place + 1]
            if place and two == NOTHING and tail[place - 1 : place + 1] == tail[-2:]:
                two = tail[place + 1]
        if one == NOTHING:
            one = self._followed.get(tail[-1], NOTHING)
        if two == NOTHING and len(tail) > 1:
            two = self._followed.get((tail[-2], tail[-1]), NOTHING)
        return one, two


def along(prompt: Sequence[int], tokens: Sequence[int]) -> list[tuple[int, int]]:
    """``Recall.after`` at each of ``tokens``, which follow ``prompt``."""
    recall, told = Recall(), list[tuple[int, int]]()
    for end in range(1, len(tokens) + 1):
        recall.read([*prompt, *tokens[:end]])
        told.append(recall.after(()))
    return told
