"""Whether a terminal's background is light: what it is asked, what it answers, and what its environment says.

A terminal that does not answer is not waited for, and whenever an answer comes, none of it counts as typed. Strings
only; must not know of Textual or of themes. Source: xterm, "Control Sequences", OSC 11.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from predtui.tui.colourless import luminance

ASK = "\x1b]11;?\x07"
"""Which colour has the background?"""
LIGHT = 0.18
"""Relative luminance from which on black is easier to read on it than white."""
LONGEST = 64
"""Characters of an answer."""
_ANSWER = re.compile(
    r"11;(?:rgba?:([0-9a-f]{1,4})/([0-9a-f]{1,4})/([0-9a-f]{1,4})(?:/[0-9a-f]{1,4})?|#([0-9a-f]{6}))", re.IGNORECASE
)
_STRING = re.compile(r"\x1b\](\d[^\x07\x1b]*)(?:\x07|\x1b\\)")
_BEGUN = re.compile(r"\x1b\](?:\d[^\x07\x1b]*\x1b?)?\Z")
"""An escape alone is a key, which is not to wait."""


def light(answer: str) -> bool | None:
    """Whether the background is, where ``answer``, without what begins and ends it, tells."""
    told = _ANSWER.fullmatch(answer)
    if told is None:
        return None
    parts = re.findall("..", told[4]) if told[4] else told.groups()[:3]
    red, green, blue = (int(255 * int(part, 16) / (16 ** len(part) - 1)) for part in parts)
    return luminance((red, green, blue)) > LIGHT


def light_by(environment: Mapping[str, str]) -> bool | None:
    """Whether the background is, where COLORFGBG tells, as in "0;15": the last is the background's."""
    last = environment.get("COLORFGBG", "").rpartition(";")[2]
    return int(last) in (7, *range(9, 16)) if re.fullmatch(r"\d|1[0-5]", last) else None


class Answers:
    """Takes answers out of what a terminal sends, however that is cut, and tells of each."""

    def __init__(self, told: Callable[[bool], object]) -> None:
        self._told = told
        self._held = ""

    def feed(self, text: str) -> str:
        """What was typed of it. The beginning of what may be an answer is held back."""
        text = _STRING.sub(self._tell, self._held + text)
        begun = _BEGUN.search(text)
        at = begun.start() if begun and len(text) - begun.start() <= LONGEST else len(text)
        self._held = text[at:]
        return text[:at]

    def flush(self) -> str:
        """What was held back, and has not gone on."""
        held, self._held = self._held, ""
        return held

    def _tell(self, string: re.Match[str]) -> str:
        """A string that is no answer to this question is left to others."""
        told = light(string[1])
        if told is None:
            return string[0]
        self._told(told)
        return ""
