"""Names of keys, and what those do that no action of the screen stands behind. Data only."""

from __future__ import annotations

TALK, RELEASE = "f2", "release+f2"
"""The talk key, and what it is called when it is let go, in terminals that tell."""

INPUT_HELP: tuple[tuple[str, str], ...] = (
    ("letters", "each finished word, and each pause, makes a partial prompt: the reply is guessed while you type"),
    ("Enter", "end the turn"),
    ("● TALK", "hold it with the mouse while you talk: exact where the terminal does not tell when F2 is let go"),
    ("Tab", "next pane; Shift+Tab for the previous one; letters go back to the input line"),
    ("↑ ↓ PgUp PgDn", "in the conversation or the verifier: scroll"),
)
