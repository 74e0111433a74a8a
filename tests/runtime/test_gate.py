"""The turn gate: lines that wait are not lost and do not overtake each other; nothing a person does confuses turns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.runtime.gate import Backlog
from predtui.runtime.typing import Typed
from predtui.state import events as ev
from tests.cast import Pace, cast
from tests.runtime.harness import Harness


@given(st.lists(st.tuples(st.text("abc", min_size=1, max_size=5), st.booleans())))
def test_every_line_that_was_ended_comes_out_in_order_and_the_open_one_as_it_stands(
    keys: list[tuple[str, bool]],
) -> None:
    backlog = Backlog()
    for text, final in keys:
        backlog.put(Typed(text, final=final))
    ended = [text for text, final in keys if final]
    assert backlog.texts == tuple(ended)
    open_line = [keys[-1][0]] if keys and not keys[-1][1] else []
    taken = [backlog.take().text for _ in range(len(ended) + len(open_line))]
    assert taken == ended + open_line
    assert not backlog
    with pytest.raises(IndexError):
        backlog.take()


keys = st.lists(
    st.tuples(
        st.sampled_from(["type", "enter", "talk", "release", "silence", "wait"]),
        st.sampled_from(["", "a", "a b", "a b ", "  ", "c"]),
    ),
    max_size=12,
)


@given(keys)
@settings(max_examples=30, deadline=None)
def test_whatever_a_person_does_turns_are_opened_in_order_and_every_line_that_was_sent_is_answered(
    script: list[tuple[str, str]],
) -> None:
    """Or silenced, or spoken over, before its reply had ended."""
    harness = Harness(cast(Pace(words=("hello", "world"))))
    sent: list[str] = []
    for deed, text in script:
        if deed == "type":
            harness.pipeline.type_line(Typed(text))
        elif deed == "enter":
            harness.pipeline.type_line(Typed(text, final=True))
            sent += [" ".join(text.split())] * bool(text.strip())
        elif deed in ("talk", "release"):
            harness.pipeline.talk(deed == "talk")
        elif deed == "silence":
            harness.pipeline.silence()
        harness.pipeline.pump()
        if deed == "wait":
            harness.settle()
    harness.pipeline.talk(False)
    harness.settle()
    harness.settle()
    started = [event.turn for event in harness.of(ev.TurnStarted)]
    assert started == list(range(1, len(started) + 1))
    assert harness.turn.waiting == ()
    assert harness.turn.phase in ("idle", "typing", "done")
    typed = [exchange for exchange in harness.turn.conversation if exchange.user != "hello world"]
    assert [exchange.user for exchange in typed] == sent
    for exchange in typed:
        assert exchange.interrupted or exchange.assistant == f"You said {exchange.user}. Over."


def test_nothing_is_listened_to_without_what_hears_it() -> None:
    harness = Harness(cast(Pace(), "llm", "mic"))
    harness.pipeline.talk(True)
    harness.settle()
    assert harness.turn.phase == "idle"
    assert harness.notices() == ["Cannot listen: asr not available. Try again what has failed, or type."]


lines = st.lists(st.tuples(st.sampled_from(["one", "two words", "and three more"]), st.booleans()), max_size=5)


@given(lines)
@settings(max_examples=20, deadline=None)
def test_what_is_asked_for_show_is_answered_and_no_later_turn_goes_on_from_it(script: list[tuple[str, bool]]) -> None:
    harness = Harness(cast(Pace()))
    for text, aside in script:
        harness.pipeline.type_line(Typed(text, final=True, aside=aside))
        harness.settle()
        harness.settle()
        assert harness.turn.conversation[-1].user == text
        assert harness.turn.reply is not None
    harness.pipeline.type_line(Typed("and now"))
    harness.settle()
    asked = [message.content for message in harness.of(ev.TurnStarted)[-1].history if message.role == "user"]
    assert asked == [text for text, aside in script if not aside]
    assert [exchange.user for exchange in harness.turn.past] == asked


@pytest.mark.parametrize("shown_first", [True, False])
def test_a_line_goes_on_in_a_turn_of_its_own_where_it_is_somebody_elses(shown_first: bool) -> None:
    harness = Harness(cast(Pace()))
    harness.pipeline.type_line(Typed("what", aside=shown_first))
    harness.settle()
    harness.pipeline.type_line(Typed("", aside=not shown_first))
    harness.settle()
    assert harness.turn.aside is shown_first  # an emptied line asks nothing
    harness.pipeline.type_line(Typed("hello", aside=not shown_first))
    harness.settle()
    assert (harness.turn.number, harness.turn.aside, harness.turn.transcript.text) == (2, not shown_first, "hello")
