"""Whether a reply is worth what the source of its drafts takes to read the prompt before its first draft.

A long prompt that is new to a draft model costs more than drafts save in a short reply. Must not know of models.
"""

from __future__ import annotations

from predtui.decoding.costs.constants import AGAIN, KNOWN_AFTER, MOST_AGAIN, REPLY_DECAY, SAVED_DECAY
from predtui.decoding.costs.curve import Line
from predtui.llm.base import common_prefix


class PrefillCost:
    """Keeps what was read last, what reading took, what drafts saved, and how long replies are."""

    def __init__(self) -> None:
        self._known: list[int] = []
        self._reading = Line()
        self._saved = self._drafted = 0.0
        self._tokens = self._replies = 0.0
        self._unread = self._left = 0
        self._again = AGAIN

    def pays(self, context: list[int], limit: int) -> bool:
        """Whether drafts are expected to save more in a reply of at most ``limit`` tokens after ``context`` than its
        reading takes; so it is while that is not known. A reply begins."""
        self._unread = len(context) - common_prefix(self._known, context)
        if not self._replies or self._drafted < KNOWN_AFTER:
            return True
        length = min(limit, self._tokens / self._replies)
        if self._reading.seconds(self._unread) <= length * self._saved / self._drafted:
            self._left, self._again = 0, AGAIN
            return True
        self._left += 1
        if self._left < self._again:
            return False
        self._left, self._again = 0, min(2 * self._again, MOST_AGAIN)
        return True

    @property
    def unread_s(self) -> float:
        """Seconds that the next draft needs to read the prompt first; 0 where it is read."""
        return self._reading.seconds(self._unread) if self._unread else 0.0

    def took(self, context: list[int], seconds: float, usual: float) -> float | None:
        """A draft after ``context``, which grows as the reply does, took so long, and such a one otherwise takes
        ``usual`` (0: not known). How long it took without reading, None where that is not known."""
        unread, self._unread, self._known = self._unread, 0, context
        if not unread:
            return seconds
        if not usual:
            return None
        drafting = min(seconds, usual)
        self._reading.add(unread, seconds - drafting)
        return drafting

    def saved(self, tokens: int, seconds: float) -> None:
        """Drafts saved so many seconds, reading not counted, for so many tokens of a reply."""
        self._saved = self._saved * SAVED_DECAY + seconds
        self._drafted = self._drafted * SAVED_DECAY + tokens

    def replied(self, tokens: int) -> None:
        """A reply has ended, or was asked for no longer, after so many tokens."""
        self._tokens = self._tokens * REPLY_DECAY + tokens
        self._replies = self._replies * REPLY_DECAY + 1
