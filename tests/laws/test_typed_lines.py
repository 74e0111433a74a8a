"""Nothing typed is ever lost: every line that was ended is a prompt, in order, whatever else happens meanwhile."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.runtime.typing import Typed
from predtui.state import events as ev
from tests.cast import Pace, cast
from tests.runtime.harness import Harness

NAMES = ("mic", "asr", "llm", "tts", "player")
ACTIONS = st.one_of(
    st.tuples(st.just("key"), st.sampled_from("abc ")),
    st.tuples(st.just("key"), st.sampled_from("abc ")),
    st.tuples(st.sampled_from(["left", "backspace", "enter", "enter"]), st.just("")),
    st.tuples(st.sampled_from(["talk", "release", "silence", "replace", "wait", "settle"]), st.just("")),
    st.tuples(st.sampled_from(["work", "kill", "arrive"]), st.sampled_from(NAMES)),
)


class Line:
    """An input line as a keyboard edits it."""

    def __init__(self) -> None:
        self.text, self.cursor = "", 0

    def press(self, key: str) -> Typed | None:
        if key == "enter":
            text, self.text, self.cursor = self.text, "", 0
            return Typed(text, final=True) if text.strip() else None
        if key == "left":
            self.cursor = max(0, self.cursor - 1)
        elif key == "backspace":
            start = max(0, self.cursor - 1)
            self.text, self.cursor = self.text[:start] + self.text[self.cursor :], start
        else:
            self.text = self.text[: self.cursor] + key + self.text[self.cursor :]
            self.cursor += 1
        return Typed(self.text, self.cursor)


def act(harness: Harness, line: Line, what: str, which: str) -> str:
    """Returns the prompt that was ended, where one was."""
    pipeline = harness.pipeline
    match what:
        case "key" | "left" | "backspace" | "enter":
            typed = line.press(which or what)
            if typed is not None:
                pipeline.type_line(typed)
                pipeline.pump()
                return typed.text if typed.final else ""
        case "work":
            for _ in range(5):
                harness.hosts[which].step()
        case "kill":
            harness.kill(which)
        case "arrive":
            harness.arrive(which)
        case "wait":
            harness.clock.advance(0.3)
        case "settle":
            harness.settle()
        case "replace":
            pipeline.replace_stage("llm", Pace())
        case _:
            {"talk": lambda: pipeline.talk(True), "release": lambda: pipeline.talk(False), "silence": pipeline.silence}[
                what
            ]()
    pipeline.pump()
    return ""


@given(st.lists(ACTIONS, max_size=60))
@settings(max_examples=75, deadline=None)
def test_the_prompts_that_come_out_are_those_that_went_in(actions: list[tuple[str, str]]) -> None:
    harness = Harness(cast(Pace(words=("x", "y"))), lagging=True, pause_s=0.06)
    line, ended = Line(), []
    for what, which in actions:
        if prompt := act(harness, line, what, which):
            ended.append(" ".join(prompt.split()))
    harness.pipeline.talk(False)
    for _ in range(len(ended) + 2):
        harness.settle()
        harness.wait(15.0)
    typed = {e.turn for e in harness.events if isinstance(e, ev.TurnStarted) and e.source == "typed"}
    finals = [e for e in harness.events if isinstance(e, ev.Transcript) and e.final and e.turn in typed]
    assert [e.prompt for e in finals] == ended
    assert not harness.turn.waiting
    silenced = {e.turn for e in harness.events if isinstance(e, ev.Interrupt)}
    replied = {e.turn for e in harness.events if isinstance(e, ev.ReplyFinished)}
    assert {e.turn for e in finals} <= silenced | replied
    if line.text.strip():
        assert harness.turn.transcript.text == " ".join(line.text.split()) or harness.turn.source == "voice"
