"""What was said and answered: the conversation. Knows nothing of guesses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from textual.content import Content

from predtui.state.exchange import Exchange
from predtui.state.turn import Turn
from predtui.tui.actions import key_of
from predtui.tui.gate import assemble
from predtui.tui.markdown import NARROWEST, marked, rendered
from predtui.tui.widgets.scrolled import TailPane
from predtui.tui.wrapping import wrapped

INDENT = 5
KEPT = 4096
"""Exchanges whose lines are kept as they were drawn."""


class Dialogue(NamedTuple):
    """All exchanges, oldest first, whether the last reply is being spoken, the lines still to be answered, and where in
    that reply the word is that is being said."""

    exchanges: tuple[Exchange, ...]
    playing: bool
    waiting: tuple[str, ...]
    saying: tuple[int, int] = (0, 0)


class ConversationPane(TailPane[Dialogue]):
    """Both sides with hanging indents; ``♪`` marks a reply being spoken, dim lines are still to be answered."""

    TOPIC = "conversation"
    MEANINGS = (
        ("you / bot", "your prompt, and the reply as committed: verified against the final prompt"),
        ("♪", "this reply is being spoken; the word that is being said is underlined, where the voice tells"),
        ("■ silenced", "the reply was stopped there: what stands before was heard, and stays in the conversation"),
        ("from …", "the notes (--context) that the reply rests on"),
        ("· queued", "a line typed ahead: answered once the reply before it has been heard; Esc silences that reply"),
        ("turns", "prompts so far"),
        (
            "newer lines",
            "how far the pane is scrolled back; ↓, End and a click on this return to the newest line",
        ),
    )
    ROOM = "ConversationPane { height: 1fr; }"

    def read(self, turn: Turn) -> Dialogue:
        return Dialogue(turn.conversation, turn.audible, turn.waiting, turn.saying)

    def heading(self, values: Dialogue) -> tuple[str, ...]:
        turns = len(values.exchanges)
        return (f" · {turns} turn{'s' * (turns != 1)}",) if turns else ()

    def lines(self, values: Dialogue, width: int) -> list[Content]:
        if not (values.exchanges or values.waiting):
            return assemble((f"type a question below, or press {key_of('talk')} and speak", ".dim")).wrap(width)
        drawn: list[Content] = []
        *before, last = values.exchanges or [None]
        for exchange in before:
            drawn += _exchange(exchange, width)
        if last:
            drawn += _exchange(last, width, values.playing, values.saying)
        for line in values.waiting:
            drawn += _side("you", ".accent", assemble((line, ".dim"), (" · queued", ".dim")), " ", width)
        return drawn


@lru_cache(maxsize=KEPT)
def _exchange(
    exchange: Exchange, width: int, playing: bool = False, saying: tuple[int, int] = (0, 0)
) -> tuple[Content, ...]:
    """Both sides; ``playing``: the reply is being heard, and in it the word between the two places of ``saying``."""
    drawn = _side("you", ".accent", assemble(exchange.user), " ", width)
    if not exchange.assistant:
        return tuple(drawn)
    lines = _reply(exchange, width)
    if playing and saying[1]:
        lines = marked(lines, exchange.assistant, saying, ".saying")
    said = _lines("bot", ".good", lines, "♪" if playing else " ")
    return (*drawn, *said, *_sources(exchange, width))


def _sources(exchange: Exchange, width: int) -> Sequence[Content]:
    """One dim line under a reply that rests on notes."""
    line = assemble(" " * INDENT, (exchange.sources, ".dim"))
    return [line.truncate(max(NARROWEST + INDENT, width), ellipsis=True)] if exchange.sources else []


def _reply(exchange: Exchange, width: int) -> Sequence[Content]:
    """As Markdown; as it is written where it was cut off."""
    if not exchange.interrupted:
        return rendered(exchange.assistant, max(NARROWEST + INDENT, width), INDENT)
    unheard = exchange.unheard
    heard = exchange.assistant.removesuffix(unheard)
    words = assemble(heard, (" ■ silenced", ".dim"), (unheard, ".dim"))
    return wrapped(words, max(NARROWEST + INDENT, width), INDENT)


def _side(who: str, style: str, words: Content, mark: str, width: int) -> list[Content]:
    return _lines(who, style, wrapped(words, max(NARROWEST + INDENT, width), INDENT), mark)


def _lines(who: str, style: str, lines: Sequence[Content], mark: str) -> list[Content]:
    """What one side said, with a hanging indent."""
    first, *others = lines
    return [assemble((who, style), (f"{mark} ", ".accent"), first), *others]
