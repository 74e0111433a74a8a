"""Theme files: all of ours are legible, and every fault of a person's is named by file, line and key."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from textual.color import Color

from predtui.models.shipped import themes_folder
from predtui.settings import UiSettings
from predtui.tui.themes import (
    BACKGROUNDS,
    COLOURS,
    DARK,
    INKS,
    LIGHT,
    MARKS,
    ThemeError,
    ThemeRegistry,
    load_themes,
    read_theme,
)
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, machine, speculating

SHELF = load_themes([themes_folder()])
GOOD = 'name = "mine"\ndark = true\n\n[colours]\n' + "".join(f'{key} = "#808080"\n' for key in COLOURS)


def luminance(colour: Color) -> float:
    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b)


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))))
    return (light + 0.05) / (dark + 0.05)


def test_eight_themes_and_more_ship_without_a_fault() -> None:
    assert len(SHELF.themes) >= 8
    assert SHELF.problems == ()
    assert {theme.dark for theme in SHELF.themes} == {True, False}
    assert UiSettings().theme == "auto"
    assert [theme.name for theme in SHELF.themes if theme.name == (DARK if theme.dark else LIGHT)] == [LIGHT, DARK]


@pytest.mark.parametrize("theme", SHELF.themes, ids=SHELF.names)
def test_every_ink_is_legible_on_every_background(theme: object) -> None:
    colours = {key: getattr(theme, key) for key in (*INKS, *BACKGROUNDS)} | {
        mark: theme.variables[mark]  # type: ignore[attr-defined]
        for mark in MARKS
    }
    for ink, ground in itertools.product((*INKS, *MARKS), BACKGROUNDS):
        assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def test_the_high_contrast_theme_reaches_seven() -> None:
    theme = next(theme for theme in SHELF.themes if theme.name == "contrast")
    assert theme.background is not None
    for mark in MARKS:
        assert contrast(theme.variables[mark], theme.background) >= 7


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("name = " + "[" * 2000, ":1: not valid TOML", "nests too deeply"),
        ("a" + ".a" * 20_000 + " = 1", ":1: not valid TOML", "too many dots"),
        ("#" * 100_000, ":1: cannot be read", "larger than"),
        (GOOD.replace('dark = true\n', ""), ":1: dark: missing", "true or false"),
        (GOOD.replace("dark = true", 'dark = "yes"'), ":2: dark: 'yes'", "true or false"),
        (GOOD.replace("dark = true", "drak = true"), ":2: drak: unknown key", "known are name, dark"),
        (GOOD.replace("accent =", "acent ="), ":7: acent: unknown colour", "accent"),
        (GOOD.replace('accent = "#808080"', 'accent = "#80808g"'), ":7: accent: '#80808g'", "opaque colour"),
        (GOOD.replace('accent = "#808080"', 'accent = "#80808040"'), ":7: accent: '#80808040'", "opaque colour"),
        (GOOD.replace('accent = "#808080"', "accent = 7"), ":7: accent: 7", "opaque colour"),
        (GOOD.replace('accent = "#808080"\n', ""), ": accent: missing", "[colours]"),
        (GOOD.replace('accent = "#808080"', "accent = #808080"), ":7: not valid TOML", "line 7"),
        (GOOD.replace('name = "mine"', 'name = ""'), ":1: name: ''", "text"),
        ("colours = 3\nname='x'\ndark=true", ":1: colours: 3", "table"),
    ],
)  # fmt: skip
def test_a_fault_is_named_by_file_line_and_key(tmp_path: Path, text: str, where: str, what: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ThemeError) as caught:
        read_theme(path)
    assert f"{path}" in str(caught.value)
    assert where in str(caught.value)
    assert what in str(caught.value)


def test_a_broken_file_is_skipped_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("name = ")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "c.toml").write_text(GOOD)
    themes = load_themes([tmp_path / "absent", tmp_path])
    assert themes.names == ("mine",)
    assert len(themes.problems) == 2
    assert all(str(tmp_path) in problem for problem in themes.problems)


def test_a_persons_theme_replaces_ours_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "midnight.toml").write_text(GOOD.replace('"mine"', '"midnight"'))
    themes = load_themes([themes_folder(), tmp_path])
    assert themes.names.count("midnight") == 1
    assert next(theme for theme in themes.themes if theme.name == "midnight").primary == "#808080"


async def test_a_theme_in_which_one_ink_is_another_is_seen_at_once(make_app: MakeApp) -> None:
    midnight = next(theme for theme in SHELF.themes if theme.name == "midnight")
    inks = {**midnight.variables, "kept": "#12ab34"}
    other = replace(midnight, name="other", variables=inks)
    app = make_app(ScriptedDriver([*machine(), *speculating()]), themes=ThemeRegistry((midnight, other)))
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        before = app.export_screenshot()
        app.theme = "other"
        await pilot.pause()
        assert "#12ab34" in app.export_screenshot()
        assert "#12ab34" not in before
