"""What every key does, in words. Data only; what a pane shows is explained in its own file."""

from __future__ import annotations

TALK, RELEASE = "f2", "release+f2"
"""The talk key, and what it is called when it is let go, in terminals that tell."""

KEY_HELP: tuple[tuple[str, str], ...] = (
    ("letters", "each finished word, and each pause, makes a partial prompt: the reply is guessed while you type"),
    ("Enter", "end the turn"),
    ("F2", "tap to start and stop talking, or hold it down while you talk"),
    ("● TALK", "hold it with the mouse while you talk: exact where the terminal does not tell when F2 is let go"),
    ("Esc", "silence the reply; close a page; dismiss a notice"),
    ("F3", "next verifier"),
    ("F4", "models: choose one, which is kept; letters filter; Enter on one to get asks first; Del removes"),
    ("F5", "get the real models, which hear people and talk about anything; again to cancel"),
    ("F6", "try stages again that have failed; the palette restarts any of them"),
    ("Ctrl+T", "next theme; the choice is kept"),
    ("Ctrl+P", "command palette: every action by name"),
    ("Tab", "next pane; Shift+Tab for the previous one"),
    ("?", "in a pane: what its numbers mean (letters go to the input line)"),
    ("↑ ↓ PgUp PgDn", "in the conversation or the verifier: scroll"),
    ("F1", "this page"),
    ("Ctrl+Z", "back to the shell; fg brings the app back as it was"),
    ("Ctrl+Q", "quit"),
)
