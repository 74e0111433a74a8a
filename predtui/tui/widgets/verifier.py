"""One row per verification, newest on top. Knows nothing of how a verifier decides."""

from __future__ import annotations

from textual.content import Content

from predtui.state.events import Verdict
from predtui.state.turn import Turn
from predtui.tui import figures
from predtui.tui.gate import assemble
from predtui.tui.widgets.pane import TailPane

MARKS = {"accept": ("✓", ".good"), "partial": ("◐", ".fair"), "reject": ("✗", ".bad")}


class VerifierPane(TailPane[tuple[Verdict, ...]]):
    """One row per verification: rev, outcome, tokens kept / tokens of the candidate, forwards (NFE), ms, verifier."""

    TOPIC = "verifier"
    MEANINGS = (
        ("rev", "the partial prompt that was checked; ⏎ marks the final one"),
        ("✓ accept", "the whole first sentence of the guess holds"),
        ("◐ partial", "the start of the guess holds; the rest is generated again"),
        ("✗ reject", "nothing of the guess holds"),
        ("kept", "tokens of the guess that hold / tokens in the guess"),
        ("NFE", "number of forward evaluations of the model until the first sentence was ready"),
        ("ms", "milliseconds from the prompt's arrival to its first sentence, verification included"),
        ("verifier", "which verifier decided; F3 switches"),
        ("lossy", "this verifier may commit words that plain decoding would not have produced"),
    )
    ROOM = """
        VerifierPane { height: 1fr; max-height: 7; }
        .-flat VerifierPane, .-narrow VerifierPane { display: none; }
        .-low VerifierPane, .-middling VerifierPane { max-height: 5; }
        .-tall VerifierPane, .-towering VerifierPane { max-height: 100%; }
        .-narrow.-towering VerifierPane { display: block; height: 6; }
    """

    def read(self, turn: Turn) -> tuple[Verdict, ...]:
        return turn.verdicts

    def heading(self, values: tuple[Verdict, ...]) -> tuple[str, ...]:
        if not values:
            return ()
        kept, of = sum(verdict.accepted for verdict in values), sum(verdict.of for verdict in values)
        return (f" · kept {kept}/{of} tokens",) if of else ()

    def lines(self, values: tuple[Verdict, ...], width: int) -> list[Content]:
        return [verdict_row(verdict, width) for verdict in reversed(values)]

    def draw(self, values: tuple[Verdict, ...], width: int, height: int) -> list[Content]:
        head = assemble(("rev outcome    kept NFE    ms", ".dim"), (" verifier" if width >= 38 else " by", ".dim"))
        rows = self.lines(values, width)
        self.hold(len(rows), width, height - 1)
        shown = rows[self.back : self.back + height - 1] or [assemble((" none yet", ".dim"))]
        return [head, *shown]

    def action_back(self, count: int) -> None:
        super().action_back(-count)


def verdict_row(verdict: Verdict, width: int) -> Content:
    """A row of the table; a verifier that is not lossless has a badge, next to its name if there is room."""
    mark, style = MARKS[verdict.outcome]
    row = assemble(
        (f"{verdict.revision:>3}{'⏎' if verdict.final else ' '}", ".strong" if verdict.final else ""),
        (f"{mark} {verdict.outcome:<7}", style),
        f"{f'{verdict.accepted}/{verdict.of}':>6}{verdict.forwards:>4}{figures.bare_milliseconds(verdict.ms):>6}",
    )
    room = width - row.cell_length - 1
    name, badge = verdict.verifier, "" if verdict.lossless else "lossy"
    if badge and room >= len(name) + 1 + len(badge):
        return assemble(row, f" {name} ", (badge, ".bad"))
    if badge:
        return assemble(row, " ", (badge if room >= len(badge) else "≈", ".bad"))
    return assemble(row, f" {name}") if room >= len(name) else row
