"""Continuations that were answered ahead, as a person may still say them. Pure: knows neither keys nor widgets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from predtui.state.events import Continuation, SpeechReady, Transcript
from predtui.state.turn import Turn
from predtui.words import gap, last_word, tidy, unspaced

BEST = 3
"""Ways that are shown: about as many as are kept."""
LIKELY = 0.05
"""Share of the words thought of, from which on one is worth being shown behind the cursor."""
_WORD = re.compile(r"\s*(?:\w[\w'’-]*|[^\w\s]+)")


class Ahead(NamedTuple):
    """``words``: how the input may go on, from the word on that is being said; empty where it may end there.
    ``chunks`` are made of the sound of the ``sentence`` that answers it, ``whole``: all of them."""

    words: str
    sentence: str
    chunks: int = 0
    whole: bool = False


def said(text: str) -> str:
    """A text as prompts have it, with the space that it may end with."""
    words = tidy(text)
    return words + gap(text[len(text.rstrip()) :]) if words else ""


def rest(text: str, ahead: Sequence[Continuation], now: str = "") -> str:
    """What is still to be said of the first likely continuation that ``text`` goes on to; that of ``now`` while it
    does."""
    before = said(text)
    rests = {known.prompt[len(before) :]: known.share for known in ahead if before and known.prompt.startswith(before)}
    likely = (words for words, share in rests.items() if share >= LIKELY and _says(words))
    return now if now and now in rests else next(likely, "")


def first_word(text: str) -> str:
    """With the space before it, and without a mark behind it, which is a word of its own; a last word brings the space
    behind it, so that the next is asked for."""
    found = _WORD.match(text)
    word = found[0] if found else text
    return f"{word} " if word == text and _says(word[-1:]) and not unspaced(word[-1]) else word


def best(turn: Turn) -> tuple[Ahead, ...]:
    """The likeliest ways in which the input may go on, while it does."""
    heard = turn.transcript
    if heard.final or not heard.text:
        return ()
    shown = turn.candidate.prompt
    held = [one for one in turn.continuations if one.prompt.startswith(heard.text) and one.prompt != shown]
    return tuple(_ahead(known, heard, turn.spoken_ahead) for known in held[:BEST])


def _ahead(known: Continuation, heard: Transcript, spoken: Sequence[SpeechReady]) -> Ahead:
    sound = next((ready for ready in spoken if ready.text.strip() == known.sentence.strip()), SpeechReady())
    more = known.prompt[len(heard.text) :]
    begun = heard.text[last_word(heard.text) :] if heard.unfinished else ""
    words = f"{begun}{more}".strip() if _says(more) else ""
    return Ahead(words, known.sentence.strip(), sound.chunks, sound.complete)


def _says(text: str) -> bool:
    return any(map(str.isalnum, text))
