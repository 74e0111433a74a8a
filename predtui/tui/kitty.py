"""Kitty's keyboard protocol, as far as it tells when a key is let go: what a terminal is asked, and what it answers.

Source: https://sw.kovidgoyal.net/kitty/keyboard-protocol/. Strings only; must not know of Textual or of terminals.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

ASK = "\x1b[?u"
"""Which flags are set? A terminal without the protocol gives no answer."""
EVENT_TYPES = 2
"""The flag with which keys are told apart by pressed, repeated and released."""
ADD, REMOVE = f"\x1b[={EVENT_TYPES};2u", f"\x1b[={EVENT_TYPES};3u"
"""Sets, or clears, this flag in the uppermost entry of the terminal's stack and leaves the others: what pops the entry
takes it away, too."""

_ANSWER = re.compile(r"\x1b\[\?(\d{1,4})u")
_KEY = re.compile(r"\x1b\[(\d*)[\d:]*;(\d*):(\d)((?:;[\d:]*)?)([u~ABCDEFHPQRS])")
_KINDS: dict[str, Literal["repeated", "released"]] = {"2": "repeated", "3": "released"}

Kind = Literal["pressed", "repeated", "released"]


class Stroke(NamedTuple):
    """``sequence``: what the same key sends when it is pressed and the flag is not set."""

    sequence: str
    kind: Kind


def flags(sequence: str) -> int | None:
    """Those that are set, where ``sequence`` is an answer to ``ASK``."""
    answer = _ANSWER.fullmatch(sequence)
    return int(answer[1]) if answer else None


def stroke(sequence: str) -> Stroke:
    """What happened to the key that ``sequence`` names. Anything else comes back as it is."""
    key = _KEY.fullmatch(sequence)
    if key is None:
        return Stroke(sequence, "pressed")
    code, modifiers, kind, text, end = key.groups()
    held = f";{modifiers}" if modifiers not in ("", "1") else ";" if text else ""
    return Stroke(f"\x1b[{code}{held}{text}{end}", _KINDS.get(kind, "pressed"))
