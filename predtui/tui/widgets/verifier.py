"""One row per verification, newest on top. Knows nothing of how a verifier decides."""

from __future__ import annotations

from typing import NamedTuple

from textual.binding import Binding
from textual.content import Content
from textual.events import Click

from predtui.state.events import Requests, Verdict
from predtui.state.turn import Turn
from predtui.tui import figures
from predtui.tui.gate import assemble
from predtui.tui.messages import VerdictChosen
from predtui.tui.widgets.scrolled import TailPane

MARKS = {"accept": ("✓", ".good"), "partial": ("◐", ".fair"), "reject": ("✗", ".bad")}
PROOFS = {"exact": "exact", "regenerates": "regenerated", "text": "text"}
"""How an engine behind a network shows what holds of a candidate."""
ASKS = {"words": "", "pauses": " · in pauses", "end": " · at the end"}
"""When it is asked, where not at each word."""


class Verified(NamedTuple):
    """What the pane shows."""

    verdicts: tuple[Verdict, ...]
    requests: Requests | None


class VerifierPane(TailPane[Verified]):
    """One row per verification: rev, outcome, tokens kept / tokens of the candidate, ms, verifier; with figures,
    forwards (NFE), too."""

    TOPIC = "verifier"
    FROM_END = False
    MEANINGS = (
        ("rev", "the partial prompt that was checked; ⏎ marks the final one"),
        ("✓ accept", "the whole first sentence of the guess holds"),
        ("◐ partial", "the start of the guess holds; the rest is generated again"),
        ("✗ reject", "nothing of the guess holds"),
        ("a row", "clicked, or Enter on the one on top: what was guessed then, and what fell; Esc: back to now"),
        ("kept", "tokens of the guess that hold / tokens in the guess; words, with a server of text"),
        ("NFE", "with {figures}: number of forward evaluations of the model until the first sentence was ready"),
        ("ms", "milliseconds from the prompt's arrival to its first sentence, verification included"),
        ("verifier", "which verifier decided; {verifier} switches"),
        ("lossy", "this verifier may commit words that plain decoding would not have produced"),
        ("exact", "the server tells how likely the tokens of a guess are: it is verified in one request"),
        ("regenerated", "the server does not tell that: it generates anew, and the guess is compared, token by token"),
        ("text", "the server tells no tokens: what it generates anew is compared as text, word by word"),
        ("confirmed", "tokens, or words, of the guess that the server said once more when it generated anew"),
        ("requests", "asked of the server in this turn; cancelled: given up for newer words"),
        ("wasted", "tokens that are no part of the guess or the reply / tokens that the server generated in this turn"),
        ("saving", "llm.remote_budget is spent for words: the server is asked in pauses, and at last at the end alone"),
        (
            "in pauses",
            "the server is slow to give a request up: it is asked where you pause, or no reply could come later",
        ),
        ("at the end", "the same, and you pause too shortly: it is asked once you have ended"),
    )
    ROOM = """
        VerifierPane { height: 1fr; max-height: 7; }
        .-flat VerifierPane, .-narrow VerifierPane { display: none; }
        .-low VerifierPane, .-middling VerifierPane { max-height: 5; }
        .-tall VerifierPane, .-towering VerifierPane { max-height: 100%; }
        .-narrow.-towering VerifierPane { display: block; height: 6; }
    """

    def read(self, turn: Turn) -> Verified:
        return Verified(turn.verdicts, turn.requests)

    def heading(self, values: Verified) -> tuple[str, ...]:
        verdicts = values.verdicts
        kept, of = sum(verdict.accepted for verdict in verdicts), sum(verdict.of for verdict in verdicts)
        asked = values.requests or Requests()
        return (f" · {asked.holds} {kept} of {of} {asked.unit}",) if of else ()

    def lines(self, values: Verified, width: int) -> list[Content]:
        return [verdict_row(verdict, width, self.figured) for verdict in reversed(values.verdicts)]

    def draw(self, values: Verified, width: int, height: int) -> list[Content]:
        nfe, by = (" NFE" if self.figured else ""), ("verifier" if width >= 38 else "by")
        head = assemble((f"rev outcome    kept{nfe}    ms {by}", ".dim"))
        above = [*asked(values.requests, width), head]
        rows = self.lines(values, width) or [assemble((" none yet", ".dim"))]
        return self.in_view(rows, width, height, above)

    def keys(self) -> list[Binding]:
        return [*super().keys(), Binding("enter", "choose", show=False)]

    def action_choose(self) -> None:
        """The row on top."""
        self._choose(0)

    def on_click(self, event: Click) -> None:
        super().on_click(event)
        if inside := event.get_content_offset(self):
            self._choose(inside.y - len(self._above))

    def _choose(self, row: int) -> None:
        rows = self.values.verdicts[::-1][self.back :]
        if 0 <= row < len(rows):
            self.post_message(VerdictChosen(rows[row]))


def asked(requests: Requests | None, width: int) -> list[Content]:
    """A line on what a server was asked for, where there is one; as much of it as there is room for."""
    if requests is None:
        return []
    count = f"{requests.count} request{'s' * (requests.count != 1)}"
    cancelled = [f"{requests.cancelled} cancelled"] if requests.cancelled else []
    parts = [PROOFS[requests.proof], count, *cancelled, f"{requests.wasted}/{requests.generated} wasted"]
    held = ASKS[requests.asks] or " · saving" * requests.saving
    while len(line := " · ".join(parts)) > width - len(held) and len(parts) > 1:
        parts.pop()
    return [assemble((line, ".strong"), (held, ".fair"))]


def verdict_row(verdict: Verdict, width: int, figured: bool = False) -> Content:
    """A row of the table, with its forwards where it is ``figured``; a verifier that is not lossless has a badge, next
    to its name if there is room."""
    mark, style = MARKS[verdict.outcome]
    row = assemble(
        (f"{verdict.revision:>3}{'⏎' if verdict.final else ' '}", ".strong" if verdict.final else ""),
        (f"{mark} {verdict.outcome:<7}", style),
        f"{f'{verdict.accepted}/{verdict.of}':>6}{f'{verdict.forwards:>4}' if figured else ''}",
        f"{figures.bare_milliseconds(verdict.ms):>6}",
    )
    room = width - row.cell_length - 1
    name, badge = verdict.verifier, "" if verdict.lossless else "lossy"
    if badge and room >= len(name) + 1 + len(badge):
        return assemble(row, f" {name} ", (badge, ".bad"))
    if badge:
        return assemble(row, " ", (badge if room >= len(badge) else "≈", ".bad"))
    return assemble(row, f" {name}") if room >= len(name) else row
