"""Words without what a recogniser only guesses while a sentence is young: marks, and the capitals that follow them.

Whisper ends every sound like a sentence: "What is the capital of..." is "What is the capital of France?" a moment
later. A prompt that changed with each mark would ask for another reply each time, so no mark stays that a later round
may take back, and no capital that came with one. Knows words alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_OUTER = re.compile(r"^[^\w$£€]+|[^\w%°+#]+$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_CAPTIONS = ("APPLAUSE", "LAUGHTER", "MUSIC", "SILENCE")
"""What Whisper, taught by subtitles, writes of sounds without a word, in brackets or without."""
_ENDS = (".", "?", "!", "…")


def plain(texts: Iterable[str]) -> Iterator[str]:
    """Each of ``texts``, the words of one sound in order, without the marks around it and without the capital that it
    has as the first of a sentence; "" where it is nothing but marks. "a.m." becomes "am"."""
    begins = True
    for text in texts:
        bare = _OUTER.sub("", text)
        initials = _INITIALS.fullmatch(bare) is not None
        bare = bare.replace(".", "") if initials else bare
        yield _lowered(bare) if begins else bare
        begins = begins if not bare else not initials and text.rstrip("\"'”’)").endswith(_ENDS)


def is_caption(texts: Iterable[str]) -> bool:
    """Whether plain ``texts`` are captions or beginnings of them, and no words."""
    words = list(texts)
    return bool(words) and all(len(one) > 1 and any(each.startswith(one) for each in _CAPTIONS) for one in words)


def _lowered(word: str) -> str:
    """``word`` without a capital that only its place gave it: not "I", nor one that has others, or figures."""
    own = word == "I" or word.startswith(("I'", "I’")) or word[1:] != word[1:].lower()
    return word if own else word[:1].lower() + word[1:]
