"""The words heard or typed so far. Knows nothing of what is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from textual.content import Content

from predtui import words
from predtui.state.turn import Turn
from predtui.tui.gate import assemble
from predtui.tui.widgets.scrolled import TailPane
from predtui.tui.wrapping import wrapped
from predtui.words import glued, joined

_LEVELS = "▁▂▃▄▅▆▇█"
_STEP = 1024
"""Characters by which what is drawn of a long text moves on: between two such steps its lines break where they did."""
_HELD = 2048
"""Characters that one can scroll back to at least: some minutes of speech."""


class Words(NamedTuple):
    """A transcript as drawn."""

    stable: str
    tentative: str
    following: str
    final: bool
    listening: bool
    over: int | None = None
    """Percent: how likely that was all; None where that is not known, or no more comes."""


class TranscriptPane(TailPane[Words]):
    """Stable words are plain, tentative ones italic between middle dots; ``⏎`` marks the end of the input."""

    TOPIC = "transcript"
    MEANINGS = (
        ("plain, bold", "stable words: they will not change again in this turn"),
        ("·italic·", "tentative words: the recogniser may still change them, or you are still typing them"),
        ("⏎", "end of input: the words are final"),
        ("words", "words so far"),
        (
            "▆ 87% over",
            "how likely your turn ends here, as the language model has it; hands-free, silence then ends it",
        ),
    )
    ROOM = """
        TranscriptPane { height: 4; }
        .-flat TranscriptPane { display: none; }
        .-low TranscriptPane, .-middling TranscriptPane { height: 3; }
        .-tall TranscriptPane, .-towering TranscriptPane { height: 1fr; max-height: 6; }
        .-towering TranscriptPane { max-height: 8; }
        .-narrow.-low TranscriptPane { display: none; }
        .-narrow.-tall TranscriptPane { height: 4; }
        .-narrow.-towering TranscriptPane { height: 6; }
    """

    _held, _start = _HELD, 0
    """Characters of the end that are drawn, and where they begin; scrolled back, they begin where they did."""

    def read(self, turn: Turn) -> Words:
        said = turn.transcript
        listening, likely = turn.phase == "listening", turn.end_of_turn
        over = round(100 * likely) if listening and likely is not None else None
        return Words(said.stable, said.tentative, said.following, said.final, listening, over)

    def heading(self, values: Words) -> tuple[str, ...]:
        count = words.count(joined((values.stable, values.tentative, values.following)))
        if not count:
            return ()
        gauge = "" if values.over is None else f" · {_LEVELS[values.over * 7 // 100]} {values.over}% over"
        return (f" · {count} word{'s' * (count != 1)}{gauge}",)

    def lines(self, values: Words, width: int) -> list[Content]:
        if not (values.stable or values.tentative):
            hint = "listening…" if values.listening else "nothing said or typed yet"
            return assemble((hint, ".dim")).wrap(width)
        parts = [(values.stable, ".stable")]
        if values.tentative:
            parts += [(_between(values.stable, values.tentative), ""), (f"·{values.tentative}·", ".tentative")]
        if values.following:
            parts += [(_between(values.tentative, values.following), ""), (values.following, ".stable")]
        if values.final:
            parts += [(" ", ""), ("⏎", ".good")]
        start = max(0, sum(len(text) for text, _ in parts) - self._held) // _STEP * _STEP
        self._start = min(start, self._start) if self.back else start
        return wrapped(assemble(*_from(parts, self._start)), width)

    def draw(self, values: Words, width: int, height: int) -> list[Content]:
        self._held = max(_HELD, 2 * width * height)  # lines are half full on average
        lines = super().draw(values, width, height)
        if (values.stable or values.tentative) and height >= 4 and len(lines) < height - 1:
            legend = assemble(("stable", ".stable"), "   ", ("·tentative·", ".tentative"))
            lines += [*[assemble()] * (height - 1 - len(lines)), legend]
        return lines


def _from(parts: list[tuple[str, str]], start: int) -> Iterator[tuple[str, str]]:
    """What of ``parts`` follows their first ``start`` characters."""
    for text, style in parts:
        yield text[start:], style
        start = max(0, start - len(text))


def _between(left: str, right: str) -> str:
    return " " if left and not glued(left, right) else ""
