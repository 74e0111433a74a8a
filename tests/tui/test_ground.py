"""A light terminal is recognised by its answer or its environment, whatever else comes, and however it is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.tui.colourless import contrast
from predtui.tui.ground import Answers, light, light_by
from predtui.tui.widgets.prompt import PromptLine
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver

WHITE, BLACK = "\x1b]11;rgb:ffff/ffff/ffff", "\x1b]11;rgb:0000/0000/0000"
ENDS = st.sampled_from(["\x07", "\x1b\\"])


def through(text: str, cuts: list[int]) -> tuple[str, list[bool]]:
    """What counts as typed of ``text``, cut at ``cuts``, and what was told."""
    told: list[bool] = []
    answers = Answers(told.append)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text) and text[cut - 1 : cut] != "\x1b")})
    typed = "".join(answers.feed(text[start:end]) for start, end in pairwise(places))
    return typed + answers.flush(), told


KEYS = st.text(st.characters(exclude_characters="\x1b\x07\x9b")) | st.sampled_from(["\x1b[13~", "\x1b]", "\x1b[?1u"])


@given(KEYS, KEYS, st.sampled_from([WHITE, BLACK]), ENDS, st.lists(st.integers(1, 60)))
def test_an_answer_is_told_of_and_nothing_of_it_is_typed(
    before: str, after: str, answer: str, end: str, cuts: list[int]
) -> None:
    if before.endswith("\x1b]"):
        before += "x"  # Alt+] is a key where something else than an answer follows
    typed, told = through(before + answer + end + after, cuts)
    assert (typed, told) == (before + after, [answer == WHITE])


@given(st.text(st.characters() | st.sampled_from("\x1b]11;?rgb:/#\x07\\")), st.lists(st.integers(1, 60)))
def test_whatever_else_comes_is_left_as_it_is(text: str, cuts: list[int]) -> None:
    typed, told = through(text, cuts)
    assert told or typed == text


@given(st.text() | st.from_regex(r"11;rgb:[0-9a-f]{0,5}/[0-9a-f]{0,5}/[0-9a-f]{0,5}"))
def test_no_answer_is_misread(answer: str) -> None:
    assert light(answer) in (True, False, None)


@pytest.mark.parametrize("form", ["11;rgb:{0:02x}/{1:02x}/{2:02x}", "11;#{0:02x}{1:02x}{2:02x}"])
@given(st.tuples(*[st.integers(0, 255)] * 3))
def test_light_is_on_what_black_is_easier_to_read(form: str, colour: tuple[int, int, int]) -> None:
    black, white = contrast(colour, (0, 0, 0)), contrast(colour, (255, 255, 255))
    if abs(black - white) > 0.1:
        assert light(form.format(*colour)) == (black > white)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("0;15", True),
        ("15;default;0", False),
        ("0;7", True),
        ("15;8", False),
        ("", None),
        ("a;b", None),
        ("0;99", None),
    ],
)
def test_the_environment_tells(value: str, told: bool | None) -> None:
    assert light_by({"COLORFGBG": value}) is told


def test_an_environment_that_says_nothing() -> None:
    assert light_by({}) is None


async def test_the_theme_follows_the_terminal_until_somebody_chooses(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLORFGBG", raising=False)
    app = make_app(ScriptedDriver(), theme="auto")
    async with app.run_test() as pilot:
        assert app.theme == "midnight"
        app.themes.follow(light=True)
        assert app.theme == "daylight"
        await pilot.press("ctrl+t")
        chosen = app.theme
        app.themes.follow(light=False)
        assert app.theme == chosen != "midnight"


@pytest.mark.parametrize(("environment", "begun"), [("0;15", "daylight"), ("15;0", "midnight")])
async def test_it_begins_as_the_environment_says(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, environment: str, begun: str
) -> None:
    monkeypatch.setenv("COLORFGBG", environment)
    app = make_app(ScriptedDriver(), theme="auto")
    async with app.run_test():
        assert app.theme == begun
        assert app.screen.query_one(PromptLine).value == ""


async def test_a_theme_that_is_named_stays(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver(), theme="moss")
    async with app.run_test():
        app.themes.follow(light=True)
        assert app.theme == "moss"
