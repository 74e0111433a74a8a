"""Where a conversation in lines is written. Must not know what is said on it."""

from __future__ import annotations

from typing import TextIO

from predtui.foreign import printable


class Paper:
    """Whole lines on a stream, and a prompt that is left open for what is typed. Of all that is written, a terminal
    obeys the line ends alone."""

    def __init__(self, out: TextIO, typed: bool) -> None:
        """``typed``: a terminal shows what is typed; elsewhere that is written here, and there is no prompt."""
        self._out, self._typed = out, typed
        self._asking = False

    def say(self, text: str, who: str = "") -> None:
        """Each line of ``text`` that says anything as one of its own; ``who`` says it, where that is named."""
        for line in filter(None, (printable(line).rstrip() for line in text.splitlines())):
            self._write(("\n" if self._asking else "") + (f"{who}: {line}\n" if who else f"{line}\n"))
            self._asking = False

    def note(self, text: str) -> None:
        """What is said beside the conversation; an open prompt is put again."""
        asking = self._asking
        self.say(text, "note")
        if asking:
            self.ask()

    def ask(self) -> None:
        """It is the person's turn."""
        if self._typed and not self._asking:
            self._write("you: ")
            self._asking = True

    def answered(self, line: str) -> None:
        """``line`` was typed: Enter has ended the line of the prompt."""
        self._asking = False
        if not self._typed:
            self.say(line, "you")

    def close(self) -> None:
        """What follows begins a line."""
        if self._asking:
            self._write("\n")
        self._asking = False

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
