"""A conversation in lines: nothing that steers a terminal, every order, every way to leave, on a pty and in a pipe."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from select import select
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.commands.chat import INTERRUPTED, TWICE_S, Chat, Said, Stop
from predtui.commands.orders import ORDERS
from predtui.commands.paper import Paper
from predtui.commands.piped import LONGEST_LINE
from predtui.state import events as ev
from tests.tui.scenes import ScriptedDriver

COMMAND = [sys.executable, "-m", "predtui"]
ESCAPES = st.text(st.characters() | st.sampled_from("\x1b\x9b\x07\r\n\t\x00\u202e"))


class Talk:
    """A conversation on a pipeline that only remembers what it is asked, and a clock that only tests move."""

    def __init__(self, typed: bool = True, speaks: bool = True) -> None:
        self.out, self.clock, self.pipeline = io.StringIO(), VirtualClock(100.0), ScriptedDriver()
        pipeline: Any = self.pipeline
        self.chat = Chat(pipeline, Paper(self.out, typed), typed, speaks, self.clock)
        self._turn = 0

    def takes(self, *items: Any) -> str:
        """What is written meanwhile."""
        before = self.out.tell()
        for item in items:
            self.chat.take(Said(item) if isinstance(item, str) or item is None else item)
        return self.out.getvalue()[before:]

    def answered(self, prompt: str, *sentences: str, over: bool = True) -> list[ev.Event]:
        self._turn += 1
        at: dict[str, Any] = {"turn": self._turn, "revision": 1}
        return [
            ev.TurnStarted(turn=self._turn),
            ev.Transcript(**at, stable=prompt, unfinished=False, final=True),
            *(ev.ReplyCommitted(**at, index=index, text=text) for index, text in enumerate(sentences)),
            ev.ReplyFinished(**at, prompt=prompt, text="".join(sentences)),
            *([ev.Playback(**at, state="finished")] if over else []),
        ]


@given(ESCAPES, ESCAPES, ESCAPES)
def test_no_reply_notice_or_line_steers_a_terminal(reply: str, notice: str, line: str) -> None:
    talk = Talk(typed=False)
    talk.takes(*talk.answered("hi", reply, notice), ev.Notice(text=notice), f"/{line}", line)
    assert not any(ord(character) < 32 and character != "\n" for character in talk.out.getvalue())
    assert "\x9b" not in talk.out.getvalue()


def test_a_reply_is_written_sentence_by_sentence_as_it_is_committed() -> None:
    talk = Talk()
    first, second = talk.answered("hi", "Hello.\n", " How are you?")[2:4]
    started, said, *_, finished, over = Talk().answered("hi", "Hello.\n", " How are you?")
    assert talk.takes("hi", started, said, first) == "bot: Hello.\n"
    assert talk.takes(second) == "How are you?\n"
    assert talk.takes(finished, over) == "you: "
    assert [typed.text for typed in talk.pipeline.lines] == ["hi"]


def test_the_notes_that_a_reply_rests_on_are_named_behind_it() -> None:
    talk = Talk()
    started, said, first, finished, over = talk.answered("hi", "Hello.")
    found = ev.Retrieved(turn=1, revision=1, notes=("trip.md", "a/b.txt"), passages=2, final=True)
    assert talk.takes("hi", started, said, found, first) == "bot: Hello.\n"
    assert talk.takes(finished, over) == "note: from trip.md, a/b.txt\nyou: "


def test_what_is_said_beside_it_leaves_the_prompt_open_at_its_end() -> None:
    talk = Talk()
    talk.takes("hi", *talk.answered("hi", "Hello."))
    assert talk.takes(ev.Notice(text="There is a microphone again.")) == ("\nnote: There is a microphone again.\nyou: ")


def test_a_reply_that_was_silenced_is_not_gone_on_with() -> None:
    talk = Talk()
    started, said, first, second, finished = talk.answered("hi", "Hello.", " How are you?", over=False)
    talk.takes("hi", started, said, first, Stop())
    assert talk.pipeline.asked == [("silence",)]
    silenced = ev.Interrupt(turn=1, revision=2, reason="silenced")
    assert talk.takes(silenced, second, finished).splitlines() == ["note: silenced", "you: "]
    assert (talk.chat.status, talk.chat.leaving) == (0, False)


def test_ctrl_c_twice_leaves_and_once_again_later_does_not() -> None:
    talk = Talk()
    assert "once more" in talk.takes(Stop())
    talk.clock.advance(TWICE_S)
    assert "once more" in talk.takes(Stop())
    talk.takes(Stop())
    assert (talk.chat.leaving, talk.chat.status) == (True, INTERRUPTED)


@pytest.mark.parametrize("typed", [True, False])
def test_lines_that_come_together_wait_for_the_replies_before_them_unless_they_are_typed(typed: bool) -> None:
    talk = Talk(typed)
    talk.takes("one", "two", "three", None)
    assert len(talk.pipeline.lines) == (3 if typed else 1)
    assert talk.chat.leaving is typed
    if not typed:
        for count, prompt in enumerate(("one", "two", "three"), 2):
            talk.takes(*talk.answered(prompt, "Yes."))
            assert len(talk.pipeline.lines) == min(count, 3)
        assert talk.chat.leaving


@pytest.mark.parametrize(("sentences", "status"), [(["Yes."], 0), ([], 1)])
def test_the_exit_status_tells_whether_every_line_was_answered(sentences: list[str], status: int) -> None:
    talk = Talk(typed=False)
    talk.takes("hi", *talk.answered("hi", *sentences), None)
    assert (talk.chat.leaving, talk.chat.status) == (True, status)
    long = Talk(typed=False)
    assert "longer than" in long.takes("x" * (LONGEST_LINE + 1))
    assert (long.pipeline.lines, long.chat.status) == ([], 1)


def test_every_order_does_what_it_says() -> None:
    talk = Talk()
    assert all(f"/{order.name}: {order.meaning}" in talk.takes("/help") for order in ORDERS)
    talk.takes("/talk", ev.TurnStarted(turn=1, source="voice"))
    assert "an empty line ends it" in talk.takes(ev.Listen(turn=1))
    talk.takes("")
    heard = ev.Transcript(turn=1, revision=1, stable="how far is it", unfinished=False, final=True)
    assert talk.takes(heard) == "you said: how far is it\n"
    assert "top" in talk.takes("/verifier")
    assert "not lossless" in talk.takes("/verifier top3")
    assert "There is no verifier 'no'" in talk.takes("/verifier no")
    assert "no reply" in talk.takes("/figures")
    assert "/help" in talk.takes("/nothing")
    talk.takes("/silence", "/again", "/new", "/etc/passwd is a file", "/quit")
    assert talk.pipeline.asked == [
        *(("talk", True), ("talk", False), ("configure", "top3"), ("silence",), ("restart", ""), ("resume", 0, ())),
    ]
    assert [typed.text for typed in talk.pipeline.lines] == ["/etc/passwd is a file"]
    assert talk.chat.leaving


class Terminal:
    """A terminal that cannot place text."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PREDTUI_")}
        places = {f"PREDTUI_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "STATE", "DATA")}
        none = {"PREDTUI_AUDIO_OUTPUT": "none", "PREDTUI_AUDIO_INPUT": "none", "PREDTUI_EMBEDDED": "1"}
        self._ours, theirs = os.openpty()
        self.child = subprocess.Popen(
            [*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
            env=kept | places | none | {"TERM": "dumb", **environment},
        )  # fmt: skip
        os.close(theirs)
        self.said = ""

    def until(self, there: Callable[[str], bool]) -> None:
        began = time.monotonic()
        while not there(self.said):
            assert time.monotonic() - began < 60, self.said
            if select([self._ours], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self._ours, 1 << 16).decode()
                except OSError:  # the other end is closed
                    assert there(self.said), self.said

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def end(self) -> int:
        """The exit status."""
        status = self.child.wait(60)
        self.until(lambda _: not select([self._ours], [], [], 0.0)[0] or self._over())
        os.close(self._ours)
        return status

    def _over(self) -> bool:
        try:
            self.said += os.read(self._ours, 1 << 16).decode()
        except OSError:
            return True
        return False


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [((), {}), (("chat", "--plain"), {"TERM": "xterm-256color"}), (("chat",), {"TERM": "xterm", "ACCESSIBLE": "1"})],
)
def test_on_a_terminal_without_an_escape_byte(
    tmp_path: Path, arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    there = Terminal(tmp_path, *arguments, **environment)
    there.until(lambda said: said.endswith("you: "))
    there.type("what is the capital of spain\n")
    there.until(lambda said: "Madrid" in said and said.endswith("you: "))
    there.type("and of italy\n")
    there.until(lambda said: "Rome" in said and said.endswith("you: "))
    there.type("\x04")
    assert there.end() == 0
    assert "\x1b" not in there.said


def test_ctrl_c_on_a_terminal(tmp_path: Path) -> None:
    there = Terminal(tmp_path)
    there.until(lambda said: said.endswith("you: "))
    there.child.send_signal(signal.SIGINT)
    there.until(lambda said: "once more" in said)
    there.child.send_signal(signal.SIGINT)
    assert there.end() == INTERRUPTED
    assert "Traceback" not in there.said


def test_in_a_pipe_and_kept_to_be_gone_on_with(tmp_path: Path) -> None:
    places = {f"PREDTUI_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "STATE", "DATA")}
    environment = os.environ | places | {"PREDTUI_AUDIO_OUTPUT": "none", "PREDTUI_EMBEDDED": "1"}

    def run(said: str, *more: str) -> str:
        done = subprocess.run(
            [*COMMAND, "chat", *more], input=said, env=environment, capture_output=True, timeout=120, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    first = run("what is the capital of spain\n").splitlines()
    assert "No terminal here, so this is a conversation in lines." in first[0]
    assert "you: what is the capital of spain" in first
    assert any(line.startswith("bot: ") and "Madrid" in line for line in first)
    assert "Rome" in run("and of italy\n", "--resume"), "understood by what was said before"
