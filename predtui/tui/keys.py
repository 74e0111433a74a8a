"""Names of keys, and what those do that no action of the screen stands behind. Data only."""

from __future__ import annotations

TALK, RELEASE = "f2", "release+f2"
"""The talk key, and what it is called when it is let go, in terminals that tell."""

EDITING = (
    ("enter", "submit"),
    ("shift+enter,alt+enter,ctrl+j", "new_line"),
    ("tab", "accept_word"),
    ("left", "cursor_left"),
    ("right", "cursor_right"),
    ("up", "cursor_up"),
    ("down", "cursor_down"),
    ("ctrl+left", "cursor_word_left"),
    ("ctrl+right", "cursor_word_right"),
    ("home,ctrl+a", "cursor_line_start"),
    ("end,ctrl+e", "cursor_line_end"),
    ("pageup", "cursor_page_up"),
    ("pagedown", "cursor_page_down"),
    ("shift+left", "cursor_left(True)"),
    ("shift+right", "cursor_right(True)"),
    ("shift+up", "cursor_up(True)"),
    ("shift+down", "cursor_down(True)"),
    ("ctrl+shift+left", "cursor_word_left(True)"),
    ("ctrl+shift+right", "cursor_word_right(True)"),
    ("shift+home", "cursor_line_start(True)"),
    ("shift+end", "cursor_line_end(True)"),
    ("ctrl+shift+a", "select_all"),
    ("backspace", "delete_left"),
    ("delete,ctrl+d", "delete_right"),
    ("ctrl+w,ctrl+backspace,alt+backspace", "delete_word_left"),
    ("alt+d,alt+delete", "delete_word_right"),
    ("ctrl+u,super+backspace", "delete_to_start_of_line"),
    ("ctrl+k", "delete_to_end_of_line_or_delete_line"),
    ("ctrl+x,super+x", "cut"),
    ("ctrl+c,super+c", "copy"),
    ("ctrl+v", "paste"),
    ("ctrl+underscore,ctrl+slash,ctrl+shift+minus,super+z", "undo"),
    ("ctrl+y,super+y", "redo"),
)
"""Keys of the input line, as in a shell, and what its text area calls what they do. Ctrl+Z goes back to the shell: undo
is Ctrl+_, which most terminals send for Ctrl+/ too."""

SCROLLING = (
    ("older", "up", "back(1)"),
    ("newer", "down", "back(-1)"),
    ("page_older", "pageup", "back(10)"),
    ("page_newer", "pagedown", "back(-10)"),
    ("oldest", "home", "back(1000000)"),
    ("newest", "end", "newest"),
)
"""Keys of a pane that scrolls: what each is called, and what it asks of the pane."""

INPUT_HELP: tuple[tuple[str, str], ...] = (
    ("letters", "each finished word, and each pause, makes a partial prompt: the reply is guessed while you type"),
    ("Enter", "end the turn"),
    ("Tab or →, End", "at the end of what is typed: take over a word, or all, of what is foreseen behind it, in grey"),
    ("Ctrl+J", "a new line; Shift+Enter or Alt+Enter too, where the terminal tells"),
    ("Ctrl+/ Ctrl+Y", "undo, redo what was typed; Ctrl+_ is the same as Ctrl+/ (Ctrl+Z goes back to the shell)"),
    ("● TALK", "hold it with the mouse while you talk: exact where the terminal does not tell when {talk} is let go"),
    ("Tab", "next pane; Shift+Tab for the previous one; letters go back to the input line"),
    ("↑ ↓ PgUp PgDn", "in the conversation or the verifier: scroll"),
)

PRESETS: dict[str, dict[str, str]] = {
    "vi": {
        "older": "up,k", "newer": "down,j", "page_older": "pageup,ctrl+b,ctrl+u",
        "page_newer": "pagedown,ctrl+f,ctrl+d", "oldest": "home,g", "newest": "end,G",
    },
    "emacs": {
        "command_palette": "alt+x", "cursor_left": "left,ctrl+b", "cursor_right": "right,ctrl+f",
        "cursor_up": "up,ctrl+p", "cursor_down": "down,ctrl+n", "cursor_word_left": "ctrl+left,alt+b",
        "cursor_word_right": "ctrl+right,alt+f", "paste": "ctrl+y,ctrl+v", "redo": "alt+underscore,super+y",
        "older": "up,ctrl+p", "newer": "down,ctrl+n", "page_older": "pageup,alt+v", "page_newer": "pagedown,ctrl+v",
        "oldest": "home,alt+less_than_sign", "newest": "end,alt+greater_than_sign",
    },
}  # fmt: skip
"""Sets of keys that people have in their fingers: over the usual ones, by the names of what they do."""
