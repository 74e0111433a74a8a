"""What is foreseen behind the input line: accepted or typed along with, it is what was answered; else it is no part of
it, and gone at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.state import events as ev
from predtui.state.reducer import reduce
from predtui.tui.ahead import BEST, best, first_word, rest, said
from predtui.tui.app import PredtuiApp
from predtui.tui.widgets.pane import Pane
from predtui.tui.widgets.prompt import PromptLine
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, fold, machine
from tests.tui.test_app import settle, typed
from tests.tui.test_keys import line

PROMPT = "what is the capital of france?"
WORDS = st.lists(st.text("abé'3", min_size=1, max_size=5).filter(lambda word: word[0] != "'"), min_size=1, max_size=5)
PROMPTS = st.builds(lambda words, mark: " ".join(words) + mark, WORDS, st.sampled_from(["", "?", ".", "!?"]))


def known(*prompts: str, turn: int = 1) -> list[ev.Continuation]:
    return [ev.Continuation(turn=turn, revision=1, prompt=one, sentence="It is so.", share=0.5) for one in prompts]


@given(PROMPTS, st.data())
def test_all_words_accepted_make_the_continuation(prompt: str, data: st.DataObject) -> None:
    text = prompt[: data.draw(st.integers(1, len(prompt)))]
    ghost = rest(text, known(prompt))
    if not ghost:
        assert not any(map(str.isalnum, prompt[len(text) :])), "a mark alone is not worth it"
        return
    while ghost:
        word = first_word(ghost)
        assert word.strip()
        text += word
        ghost = rest(text, known(prompt), ghost[len(word) :])
    assert text.rstrip() == prompt


@given(PROMPTS, st.lists(PROMPTS, max_size=4), st.data())
def test_typed_along_with_it_shrinks_by_each_letter_and_stays_the_same(
    prompt: str, others: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(1, len(prompt)))
    ghost = rest(prompt[:at], known(prompt))
    prompts = data.draw(st.permutations([prompt, *others]))
    for end in range(at + 1, len(prompt)) if ghost else ():
        ghost = rest(prompt[:end], known(*prompts), ghost[1:])
        assert ghost == prompt[end:]


@given(st.text(" ab\n", max_size=8), st.lists(PROMPTS, max_size=4), st.text("ab ?", max_size=6))
def test_whatever_is_shown_goes_on_to_something_that_was_answered(text: str, prompts: list[str], now: str) -> None:
    shown = rest(text, known(*prompts), now)
    assert not shown or said(text) + shown in prompts
    assert not shown or text.strip()


def test_what_is_hardly_said_is_not_shown_though_it_is_answered() -> None:
    ahead = [replace(one, share=share) for one, share in zip(known("threed", "three two"), (0.0, 0.4), strict=True)]
    assert rest("three", ahead) == " two"
    assert rest("three", ahead[:1]) == ""


async def foreseeing(app: PredtuiApp, driver: ScriptedDriver, *prompts: str) -> PromptLine:
    driver.emit(ev.TurnStarted(turn=1, time=1.0), *known(*prompts))
    for _ in range(50):
        await asyncio.sleep(0.02)
        prompt = app.query_one(PromptLine)
        if prompt._ahead:
            break
    return prompt


class TestOnTheLine:
    async def test_tab_and_the_arrow_accept_a_word_and_end_all(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press(*"what is the ca")
            prompt = await foreseeing(app, driver, PROMPT)
            assert prompt.suggestion == "pital of france?"
            assert typed(driver)[-1] == ("what is the ca", 14), "nothing of it is told"
            await pilot.press("tab")
            assert (line(app), prompt.suggestion) == ("what is the capital", " of france?")
            await pilot.press("right")
            assert (line(app), prompt.suggestion) == ("what is the capital of", " france?")
            assert typed(driver)[-1] == ("what is the capital of", 22)
            await pilot.press("end")
            assert (line(app), prompt.suggestion) == (PROMPT, "")
            await pilot.press("ctrl+underscore")
            assert line(app) == "what is the capital of", "accepting is one edit"

    async def test_what_is_not_accepted_is_not_sent(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press(*"what is")
            prompt = await foreseeing(app, driver, PROMPT)
            assert prompt.suggestion
            await pilot.press("enter")
            assert typed(driver)[-1] == ("what is", None)
            assert prompt.suggestion == ""
            await pilot.press("w")
            assert prompt.suggestion == "hat is the capital of france?"
            driver.emit(ev.Transcript(turn=1, revision=2, stable="what is", unfinished=False, final=True))
            await settle(pilot)
            assert prompt.suggestion == "", "a turn that is answered foresees nothing more"

    async def test_it_stays_while_it_is_typed_and_is_gone_with_the_first_other_letter(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press(*"what is ")
            prompt = await foreseeing(app, driver, PROMPT)
            seen: list[str] = []
            app.watch(prompt, "suggestion", lambda shown: seen.append(shown), init=False)
            for end in range(9, 15):
                await pilot.press(PROMPT[end - 1])
                assert prompt.suggestion == PROMPT[end:]
            assert seen == [PROMPT[end:] for end in range(9, 15)], "with nothing in between"
            await pilot.press("x")
            assert prompt.suggestion == ""
            await pilot.press("backspace")
            assert prompt.suggestion == PROMPT[14:]
            await pilot.press("left")
            assert prompt.suggestion == "", "only at the end"
            await pilot.press("right")
            assert (line(app), prompt.suggestion) == (PROMPT[:14], PROMPT[14:])

    async def test_without_it_the_keys_do_what_they_did(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press(*"ab", "home", "right", "end", "right", "tab")
            assert line(app) == "ab"
            assert isinstance(app.focused, Pane)

    async def test_what_is_shown_first_stays_when_more_is_answered(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press(*"what is ")
            prompt = await foreseeing(app, driver, "what is?", "what is love", "what is air")
            assert prompt.suggestion == "love", "a mark alone is nothing to go on with"
            driver.emit(*known("what is zen"))
            await settle(pilot)
            assert prompt.suggestion == "love"


def heard(text: str, **more: object) -> ev.Transcript:
    return ev.Transcript(turn=2, revision=1, stable=text, unfinished=False, **more)  # type: ignore[arg-type]


def ways(events: Sequence[ev.Event]) -> list[tuple[str, str, int, bool]]:
    return [tuple(way) for way in best(fold([ev.TurnStarted(turn=2), *events]))]  # type: ignore[misc]


def test_the_ways_to_go_on_are_the_first_three_that_still_can_come() -> None:
    ahead = known("what is a", "what is the", "what are", "what is?", "what is one", "what is two", turn=2)
    assert [way[0] for way in ways([heard("what is"), *ahead])] == ["a", "the", ""]
    assert len(ways([heard("what"), *ahead])) == BEST
    assert ways([heard("what is", final=True), *ahead]) == []
    assert ways([heard(""), *ahead]) == []
    spelled = ev.Transcript(turn=2, revision=1, stable="what is", tentative="t")
    assert [way[0] for way in ways([spelled, *ahead])] == ["the", "two"]


def test_each_tells_how_far_its_sound_is() -> None:
    ahead = [ev.Continuation(turn=2, prompt=f"is {word}", sentence=f"Yes {word}.") for word in "abc"]
    made = [
        ev.SpeechReady(turn=2, text="Yes a.", seconds=0.1, chunks=2),
        ev.SpeechReady(turn=2, text="Yes b.", seconds=0.1, chunks=3),
        ev.SpeechReady(turn=2, text="Yes a.", seconds=0.4, chunks=5, complete=True),
    ]
    assert ways([heard("is"), *ahead, *made]) == [
        ("a", "Yes a.", 5, True), ("b", "Yes b.", 3, False), ("c", "Yes c.", 0, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("forwards", "took", "came"),
    [(9, 0, ("is it so", 9, 79.5)), (9, 1, None), (0, 0, ("is it so", None, None)), (0, 3, None)],
)
def test_what_came_true_says_what_was_measured_and_nothing_else(
    forwards: int, took: int, came: tuple[str, int | None, float | None] | None
) -> None:
    turn = fold(
        [
            ev.TurnStarted(turn=2),
            ev.Continuation(turn=2, revision=1, prompt="is it so", sentence="Yes.", forwards=forwards, ms=80.0),
            ev.Transcript(turn=2, revision=2, stable="is it so", unfinished=False),
            ev.Verdict(turn=2, revision=2, outcome="accept", accepted=4, of=4, forwards=took, ms=0.5),
        ]
    )
    found = turn.foreseen and (turn.foreseen.prompt, turn.foreseen.forwards, turn.foreseen.ms)
    assert found == came
    late = ev.Verdict(turn=2, revision=1, outcome="accept", forwards=0)
    assert reduce(turn, late).foreseen is None, "of an earlier prompt"
    assert reduce(turn, ev.TurnStarted(turn=3)).foreseen is None
