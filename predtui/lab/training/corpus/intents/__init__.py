"""Every intent the pocket model talks about, in one tuple."""

from __future__ import annotations

from predtui.lab.training.corpus.intents import (
    arithmetic,
    assistant,
    calendar,
    clock,
    conversion,
    countries,
    dialogue,
    howto,
    recommend,
    smalltalk,
    things,
    unknown,
)
from predtui.lab.training.corpus.types import Intent

INTENTS: tuple[Intent, ...] = (
    *arithmetic.INTENTS,
    *conversion.INTENTS,
    *calendar.INTENTS,
    *clock.INTENTS,
    *countries.INTENTS,
    *things.INTENTS,
    *howto.INTENTS,
    *assistant.INTENTS,
    *recommend.INTENTS,
    *smalltalk.INTENTS,
    *unknown.INTENTS,
    *dialogue.INTENTS,
)
