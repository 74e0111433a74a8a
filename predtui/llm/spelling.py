"""What one token spells, told alike by every engine. Must not know of engines."""

from __future__ import annotations

from predtui.llm.base import Tokenizer

_BROKEN = "\N{REPLACEMENT CHARACTER}"


def spelled(tokenizer: Tokenizer, token: int) -> str:
    """The text of ``token``. Bytes that are no character by themselves are left out: alone, some engines write them as
    U+FFFD, and others hold them back."""
    return tokenizer.decode([token]).replace(_BROKEN, "")
