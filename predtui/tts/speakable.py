"""What of a written sentence is said aloud: markdown without its marks, addresses by their host, symbols as words.

Must not know of any synthesiser; numbers are left to it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from predtui.foreign import without_controls

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"')\]]+", re.IGNORECASE)
_EMAIL = re.compile(r"\b([\w.+-]+)@([\w-]+(?:\.[\w-]+)+)\b")
_UNITS = {"°C": " degrees Celsius", "°F": " degrees Fahrenheit", "°": " degrees", "±": " plus or minus "}
_SYMBOLS = {
    "→": " to ",
    "≈": " about ",
    "×": " times ",
    "÷": " divided by ",
    "≤": " at most ",
    "≥": " at least ",
    "…": "... ",
}
_BETWEEN_NUMBERS = {"*": " times ", "/": " divided by ", "+": " plus ", "=": " equals "}
_ARITHMETIC = re.compile(r"(?<=\d)\s+([*/+=])\s+(?=\d)")


def speakable(text: str) -> str:
    """Plain text to read out, possibly empty. Emoji are silent unless the text is nothing else: then named."""
    guarded = _ARITHMETIC.sub(lambda match: _BETWEEN_NUMBERS[match[1]], text)
    plain = _without_markdown(guarded)
    if not any(map(str.isalnum, plain)):  # "42." is an answer, not an empty list item
        plain = guarded
    plain = _EMAIL.sub(_spoken_email, _URL.sub(_spoken_url, plain))
    for table in (_UNITS, _SYMBOLS):
        for symbol, words in table.items():
            plain = plain.replace(symbol, words)
    words = "".join(character for character in plain if not _is_pictograph(character))
    if not any(character.isalnum() for character in words):
        words = " ".join(_name(character) for character in plain if _is_named(character))
    return re.sub(r"\s+", " ", without_controls(words)).strip()


def _spoken_url(match: re.Match[str]) -> str:
    address = match[0]
    tail = re.search(r"[.,;:!?]*$", address)
    stop = tail[0] if tail else ""
    host = re.sub(r"^(?:https?://)?(?:www\.)?", "", address.removesuffix(stop), flags=re.IGNORECASE)
    name = re.split(r"[/?#:]", host, maxsplit=1)[0]
    return name.replace(".", " dot ").replace("-", " dash ") + stop


def _spoken_email(match: re.Match[str]) -> str:
    return f"{match[1].replace('.', ' dot ')} at {match[2].replace('.', ' dot ')}"


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return (
        MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
        .disable(["entity", "autolink", "html_block", "html_inline"])
    )


def _without_markdown(text: str) -> str:
    return " ".join(
        _words_of(token) for token in _parser().parse(text) if token.type in ("inline", "fence", "code_block")
    )


def _words_of(token: Token) -> str:
    if token.type != "inline":
        return token.content
    parts: list[str] = []
    for child in token.children or []:
        if child.type in ("text", "code_inline", "image"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return "".join(parts)


def _is_pictograph(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Cs", "Sk") or character in "\u200d\ufe0f\ufe0e\u20e3"


def _is_named(character: str) -> bool:
    return unicodedata.category(character) == "So" and bool(unicodedata.name(character, ""))


def _name(character: str) -> str:
    return unicodedata.name(character).lower()
