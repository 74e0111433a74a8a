"""What one takes along from the pane that has the focus: a reply, a question, a turn, a guess, a verdict.

Must not know how text gets into a clipboard.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.selection import SELECT_ALL

from predtui.state.turn import Turn
from predtui.tui.widgets.pane import Pane

if TYPE_CHECKING:
    from predtui.tui.app import PredtuiApp


def reply_of(turn: Turn) -> str:
    """The last one, as far as it is committed."""
    return next((each.assistant for each in reversed(turn.conversation) if each.assistant), "")


def question_of(turn: Turn) -> str:
    """What is being said, or was said last."""
    said = [turn.transcript.text, *(each.user for each in reversed(turn.conversation))]
    return next(filter(None, said), "")


def turn_of(turn: Turn) -> str:
    """The last exchange, as Markdown."""
    from predtui.state.kept.export import markdown

    return markdown(turn.conversation[-1:]).strip() if turn.conversation else ""


def guess_of(turn: Turn) -> str:
    return " ".join(turn.candidate.text.split())


def verdict_of(turn: Turn) -> str:
    """The last one, with its units."""
    if not turn.verdicts:
        return ""
    last = turn.verdicts[-1]
    final, lossy = " (final)" * last.final, " (lossy)" * (not last.lossless)
    kept = f"{last.accepted}/{last.of} tokens kept, {last.forwards} forwards, {last.ms:.1f} ms"
    return f"revision {last.revision}{final}: {last.outcome}, {kept}, {last.verifier}{lossy}"


WHAT: dict[str, Callable[[Turn], str]] = {
    "reply": reply_of,
    "question": question_of,
    "turn": turn_of,
    "guess": guess_of,
    "verdict": verdict_of,
}
OF_PANE = {"conversation": "reply", "transcript": "question", "candidate": "guess", "verifier": "verdict"}
"""What each pane has to give; any other gives all that it shows."""


def from_pane(app: PredtuiApp) -> None:
    """What is selected, or what the pane that has the focus has to give."""
    if selected := app.screen.get_selected_text():
        app.copy(selected, "selection")
    elif isinstance(pane := app.focused, Pane):
        if pane.TOPIC in OF_PANE:
            _copy(app, OF_PANE[pane.TOPIC])
        elif got := pane.get_selection(SELECT_ALL):
            app.copy(got[0].strip("\n"), pane.TOPIC)


def reply(app: PredtuiApp) -> None:
    _copy(app, "reply")


def question(app: PredtuiApp) -> None:
    _copy(app, "question")


def whole_turn(app: PredtuiApp) -> None:
    _copy(app, "turn")


def verdict(app: PredtuiApp) -> None:
    _copy(app, "verdict")


def _copy(app: PredtuiApp, what: str) -> None:
    text = WHAT[what](app.turn)
    if text:
        app.copy(text, what)
    else:
        app.show_notice(f"no {what} to copy yet")
