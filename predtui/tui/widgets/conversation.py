"""What was said and answered: the conversation. Knows nothing of guesses."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content

from predtui.state.exchange import Exchange
from predtui.state.turn import Turn
from predtui.tui.gate import assemble
from predtui.tui.widgets.pane import TailPane
from predtui.tui.wrapping import wrapped

INDENT = 5


class Dialogue(NamedTuple):
    """All exchanges, oldest first, whether the last reply is being spoken, and the lines still to be answered."""

    exchanges: tuple[Exchange, ...]
    playing: bool
    waiting: tuple[str, ...]


class ConversationPane(TailPane[Dialogue]):
    """Both sides with hanging indents; ``♪`` marks a reply being spoken, dim lines are still to be answered."""

    TOPIC = "conversation"
    MEANINGS = (
        ("you / bot", "your prompt, and the reply as committed: verified against the final prompt"),
        ("♪", "this reply is being spoken"),
        ("■ silenced", "the reply was stopped there: what stands before was heard, and stays in the conversation"),
        ("· queued", "a line typed ahead: answered once the reply before it has been heard; Esc silences that reply"),
        ("turns", "prompts so far"),
        ("newer lines", "how far the pane is scrolled back; ↓ and End return to the newest line"),
    )
    ROOM = "ConversationPane { height: 1fr; }"

    def read(self, turn: Turn) -> Dialogue:
        return Dialogue(turn.conversation, turn.audible, turn.waiting)

    def heading(self, values: Dialogue) -> tuple[str, ...]:
        turns = len(values.exchanges)
        return (f" · {turns} turn{'s' * (turns != 1)}",) if turns else ()

    def lines(self, values: Dialogue, width: int) -> list[Content]:
        if not (values.exchanges or values.waiting):
            return assemble(("type a question below, or press F2 and speak", ".dim")).wrap(width)
        drawn: list[Content] = []
        for exchange in values.exchanges:
            drawn += _side("you", ".accent", assemble(exchange.user), " ", width)
            if exchange.assistant:
                unheard = exchange.unheard
                heard = exchange.assistant.removesuffix(unheard)
                words = assemble(heard, (" ■ silenced" if exchange.interrupted else "", ".dim"), (unheard, ".dim"))
                spoken = values.playing and exchange is values.exchanges[-1]
                drawn += _side("bot", ".good", words, "♪" if spoken else " ", width)
        for line in values.waiting:
            drawn += _side("you", ".accent", assemble((line, ".dim"), (" · queued", ".dim")), " ", width)
        return drawn


def _side(who: str, style: str, words: Content, mark: str, width: int) -> list[Content]:
    """What one side said, with a hanging indent."""
    first, *others = wrapped(words, max(8 + INDENT, width), INDENT)
    return [assemble((who, style), (f"{mark} ", ".accent"), first), *others]
