"""Every intent the pocket model talks about, in one tuple."""

from __future__ import annotations

import importlib

from predtui.training.corpus.intents import arithmetic, assistant, calendar, clock, conversion, dialogue
from predtui.training.corpus.types import Intent


def _late(name: str) -> tuple[Intent, ...]:
    try:
        return tuple(importlib.import_module(f"{__name__}.{name}").INTENTS)
    except Exception:
        return ()


INTENTS: tuple[Intent, ...] = (
    *arithmetic.INTENTS,
    *conversion.INTENTS,
    *calendar.INTENTS,
    *clock.INTENTS,
    *assistant.INTENTS,
    *dialogue.INTENTS,
    *(i for n in ("countries", "things", "howto", "smalltalk", "recommend", "unknown") for i in _late(n)),
)
