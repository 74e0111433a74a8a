"""Which words of a line being typed are finished. Pure; knows nothing of the widget that holds the line."""

from __future__ import annotations

_WORD_EXTRAS = "'’-_"


def _in_word(character: str) -> bool:
    return character.isalnum() or character in _WORD_EXTRAS


def finished_words(text: str, cursor: int) -> tuple[str, ...] | None:
    """The words no longer being typed; None while a word inside the line is, and nothing can be said.

    A word is being typed when the cursor stands right behind its last letter so far. At the end of the line that word
    is left out, so that pasting a sentence yields all but its last word.
    """
    growing = cursor > 0 and cursor <= len(text) and _in_word(text[cursor - 1])
    if not growing:
        return tuple(text.split())
    if text[cursor:].strip():
        return None
    start = cursor
    while start > 0 and _in_word(text[start - 1]):
        start -= 1
    return tuple(text[:start].split())
