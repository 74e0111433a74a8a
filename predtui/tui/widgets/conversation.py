"""What was said and answered, as it stands in the conversation. Knows nothing of guesses."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content

from predtui.state.turn import Exchange, Turn
from predtui.tui.widgets.pane import TailPane

INDENT = 5


class Dialogue(NamedTuple):
    """All exchanges, oldest first, whether the last reply is being heard, and the lines that wait to be answered."""

    exchanges: tuple[Exchange, ...]
    playing: bool
    waiting: tuple[str, ...]


class ConversationPane(TailPane[Dialogue]):
    """Both sides with hanging indents; ``♪`` marks a reply being spoken, dim lines wait for theirs."""

    TOPIC = "conversation"

    def read(self, turn: Turn) -> Dialogue:
        return Dialogue(turn.conversation, turn.audible, turn.waiting)

    def heading(self, values: Dialogue) -> tuple[str, ...]:
        turns = len(values.exchanges)
        return (f" · {turns} turn{'s' * (turns != 1)}",) if turns else ()

    def lines(self, values: Dialogue, width: int) -> list[Content]:
        if not (values.exchanges or values.waiting):
            return Content.assemble(("type a question below, or press F2 and speak", ".dim")).wrap(width)
        drawn: list[Content] = []
        for exchange in values.exchanges:
            drawn += _side("you", ".accent", Content(exchange.user), " ", width)
            if exchange.assistant:
                words = Content.assemble(exchange.assistant, (" ■ silenced", ".dim") if exchange.interrupted else "")
                spoken = values.playing and exchange is values.exchanges[-1]
                drawn += _side("bot", ".good", words, "♪" if spoken else " ", width)
        for line in values.waiting:
            drawn += _side("you", ".accent", Content.assemble((line, ".dim"), (" · waits", ".dim")), " ", width)
        return drawn


def _side(who: str, style: str, words: Content, mark: str, width: int) -> list[Content]:
    """What one side said, with a hanging indent."""
    first, *others = words.wrap(max(8, width - INDENT))
    head = Content.assemble((who, style), (f"{mark} ", ".accent"), first)
    return [head, *(Content(" " * INDENT) + line for line in others)]
