"""Which mark the user will end a sentence with, judged by how they write: nobody who types one presses Enter before it.

Pure; must not know of models, or of what the mark is for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from predtui.state.events import Message
from predtui.text import is_marked, sentences
from predtui.words import unspaced

MARKS = ".?!"
_ASKS = re.compile(
    r"(wh(at|om?|ose|ich|en|ere|y)|how|am|may|might|must|((is|are|was|were|do|does|did|has|have|had)"
    r"|(c|w|sh)ould|can|will|shall)(n't|n’t|'t|’t)?)$",
    re.IGNORECASE,
)
"""The first word of a question."""


def end_mark(history: Sequence[Message], text: str) -> str:
    """The mark that ``text`` is likely to get behind its last word; "" where it has one, or its writer uses none: in
    their last message that began with a capital letter, or without one, as this does; while there is none, marks are
    for who begins with one."""
    text = text.strip()
    if not text or is_marked(text) or unspaced(text[-1]) or not _writes_marks(history, text):
        return ""
    *_, last = sentences(text, complete=True)
    first = last.split()[0].rstrip(",:")
    return "?" if _ASKS.match(first) else "."


def _writes_marks(history: Sequence[Message], text: str) -> bool:
    said = (message.content.strip() for message in reversed(history) if message.role == "user")
    last = next((one for one in said if one and _capital(one) == _capital(text)), "")
    return last[-1] in MARKS if last else _capital(text)


def _capital(text: str) -> bool:
    """Whether it begins with a capital letter that is not one wherever it stands."""
    return text[0].isupper() and not re.match(r"I\b", text)
