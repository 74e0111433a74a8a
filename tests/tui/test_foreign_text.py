"""What models, recordings, themes and files say is drawn as text: it commands no terminal, and is no markup."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.widgets import Input, OptionList

import predtui
from predtui.foreign import MOST_MARKS
from predtui.models.shipped import themes_folder
from predtui.state import events as ev
from predtui.tui.gate import Gate, assemble
from predtui.tui.screens.models import ModelScreen
from predtui.tui.themes import ThemeRegistry, load_themes
from predtui.tui.widgets.prompt import PromptLine
from tests import foreign
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, by_path, fold, machine
from tests.tui.test_app import settle, until

SIZE = (160, 40)


def frame(app: App[Any]) -> str:
    """The screen, whole, as it is written to a terminal."""
    update = app.screen._compositor.render_update(full=True)
    return update.render_segments(app.console)  # type: ignore[union-attr]


def words(app: App[Any]) -> str:
    """All lines, one after the other."""
    lines = foreign.OWN.sub("", frame(app)).split("\n")
    assert len(lines) == app.size.height
    return "".join(lines)


def assert_harmless(app: App[Any]) -> None:
    said = words(app)
    assert not foreign.forbidden(said), foreign.forbidden(said)
    assert foreign.marks(said) <= MOST_MARKS
    assert cell_len(said) >= 0.9 * SIZE[0] * SIZE[1]


def said_by_all(texts: Iterator[str], turn: int) -> list[ev.Event]:
    """A turn in which every field that is drawn says something else."""
    stamp: dict[str, Any] = {"turn": turn, "revision": 1, "time": float(turn)}
    take = texts.__next__
    return [
        ev.TurnStarted(turn=turn, time=float(turn)),
        *(
            ev.StageStatus(stage=name, state=state, message=f"{take()} · {take()}", time=float(turn))
            for name, state in (("llm", "ready"), ("asr", "restarting"), ("tts", "failed"), (take(), "ready"))
        ),
        ev.Configure(verifier=take()),
        ev.Notice(text=take(), severity="warning", time=float(turn)),
        ev.Transcript(**stamp, stable=take(), tentative=take(), following=take()),
        ev.Candidate(**stamp, prompt=take(), kept=take(), new=take(), rejected=take(), tokens=3),
        *(ev.Verdict(**stamp, outcome="accept", accepted=1, of=2, forwards=1, verifier=take()) for _ in range(9)),
        ev.Decoding(
            **stamp,
            decoder=take(),
            note=take(),
            tree=(ev.Branch(take(), source=take(), accepted=True), ev.Branch(take(), 0, take())),
            chosen=take(),
        ),
        ev.Transcript(**stamp, stable=take(), unfinished=False, final=True),
        ev.ReplyCommitted(**stamp, index=0, text=take() + take()),
        ev.ReplyFinished(**stamp, prompt=take(), text=take(), outcome="accept"),
        ev.Usage(time=float(turn), cpu=4.0, memory_mb=6.0, stages=((take(), 8.0, 96.0), ("llm", 31.0, 214.0))),
        ev.LinesWaiting(texts=(take(), take())),
    ]  # fmt: skip


async def test_whatever_is_said_reaches_the_terminal_as_text_alone(make_app: MakeApp) -> None:
    texts = foreign.strings(600)
    app = make_app(ScriptedDriver(machine()))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for turn in range(1, 600 // 40):
            app.turn = fold(said_by_all(texts, turn), fold(machine()))
            app._main.show(app.turn)
            await pilot.pause()
            assert_harmless(app)


def test_ten_thousand_strings_are_assembled_as_text_alone() -> None:
    for text in foreign.strings(10_000, seed=1):
        for line in assemble(text, (text, "bold")).wrap(40):
            assert not foreign.forbidden(line.plain)
            assert foreign.marks(line.plain) <= 2 * MOST_MARKS
            assert line.cell_length <= 40
            assert "".join(piece for piece, _ in line.render(end="")) == line.plain


@given(st.lists(st.text(st.characters() | st.sampled_from("".join(foreign.EVERYTHING)))))
@example(["\ud800", "a\x1b]0;b\x07", "Z" + "\u0301" * 99])
def test_what_the_gate_lets_through_is_as_wide_as_before(texts: list[str]) -> None:
    before = [Segment(text) for text in texts]
    after = Gate().apply(before, Color(0, 0, 0))
    for old, new in zip(before, after, strict=True):
        assert not foreign.forbidden(new.text)
        assert new.cell_length == old.cell_length
        assert new.style == old.style


@pytest.mark.parametrize(
    "text", ["👩\u200d👩\u200d👧", "❤\ufe0f", "हिन्दी", "ক্\u200dষ", "می\u200cخواهم", "שָׁלוֹם", "ế", "1\ufe0f\u20e3"]
)
def test_scripts_keep_the_marks_and_joiners_they_need(text: str) -> None:
    assert [segment.text for segment in Gate().apply([Segment(text)], Color(0, 0, 0))] == [text]


NAMES = ("[/]", "[link=a:b", "[bold]b", "a[red]b[/red]", "\x1b]0;x\x07c", "[@click=app.quit]d[/]", "\u202e日本")


def shows(app: App[Any], text: str) -> int:
    """How often it stands on the screen, spaces and control characters aside."""
    return (
        words(app)
        .replace(" ", "")
        .count(text.replace("\x1b", "").replace("\x07", "").replace("\u202e", "").replace(" ", ""))
    )


async def test_files_and_paths_are_no_markup(make_app: MakeApp, tmp_path: Path) -> None:
    names = [name.replace("/", "|") + ".gguf" for name in NAMES]
    for name in names:
        (tmp_path / name).write_bytes(b"GGUF")
    app = make_app(model_options=by_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("f4")
        await until(pilot, lambda: isinstance(app.screen, ModelScreen))
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert_harmless(app)
        assert all(shows(app, name) for name in names)
        rows = [assemble(str(option.prompt)) for option in app.screen.query_one(OptionList).options]
        assert (
            len({row.plain.index("MB") - len(row) + row.cell_length for row in rows if row.plain.endswith("0 MB")}) == 1
        )
        path = app.screen.query_one(Input)
        path.focus()
        for name in NAMES:
            path.value = name
            await pilot.press("enter")
            await pilot.pause()
            assert_harmless(app)
            assert shows(app, f"✗ {Path(name)}")


async def test_a_theme_is_chosen_under_any_name(make_app: MakeApp, tmp_path: Path) -> None:
    text = (themes_folder() / "midnight.toml").read_text(encoding="utf-8")
    for number, name in enumerate(NAMES):
        named = text.replace('name = "midnight"', f"name = {json.dumps(name)}")
        (tmp_path / f"{number}.toml").write_text(named, encoding="utf-8")
    registry = load_themes([tmp_path])
    assert registry.names == NAMES
    app = make_app(theme="[other]", themes=registry)
    async with app.run_test(size=(SIZE[0], 120)) as pilot:  # the whole palette is in view
        await settle(pilot)
        assert_harmless(app)
        assert "no theme '[other]'" in words(app)
        for name in (*NAMES[1:], NAMES[0]):
            await pilot.press("ctrl+t")
            await pilot.pause()
            assert_harmless(app)
            assert shows(app, f"theme {name}")
        for keys in ((), tuple("theme")):
            await pilot.press("ctrl+p", *keys)
            await until(pilot, lambda: all(shows(app, f"Theme: {name}") for name in NAMES))
            assert_harmless(app)
            await pilot.press("escape")
            await pilot.pause()


async def test_notices_and_prompts_are_no_markup(make_app: MakeApp) -> None:
    app = make_app(themes=ThemeRegistry(load_themes([themes_folder()]).themes, tuple(f"skipped: {n}" for n in NAMES)))
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert all(shows(app, f"skipped: {name}") for name in NAMES)
        for name in NAMES:
            app.query_one(PromptLine).value = name
            app.show_notice(f"that failed: {name}", "error")
            await pilot.pause()
            assert_harmless(app)
            assert shows(app, name) >= 2


ROOT = Path(predtui.__file__).parent
DRAWN = {"Static", "Label", "notify", "update"}
"""What takes text for markup."""


def test_what_is_drawn_has_one_maker() -> None:
    """No widget makes content of its own, and none is given text that is not written there word for word."""
    others = []
    for path in (ROOT / "tui").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and path.name != "gate.py":
                others += [f"{path.name}:{node.lineno}"] * _makes(node)
    assert not others


def _makes(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    if name == "Content" or name.startswith(("Content.", "Text.")) or name.endswith("from_markup"):
        return True
    text = call.args[0] if call.args else None
    drawn = name.rpartition(".")[2] in DRAWN and name != "said.update" and text is not None
    return drawn and not isinstance(text, ast.Constant) and not ast.unparse(text).startswith("assemble(")


def test_consoles_have_one_maker() -> None:
    made = [path.name for path in ROOT.rglob("*.py") if re.search(r"\bConsole\(", path.read_text(encoding="utf-8"))]
    assert not made, "commands.console makes one whose text is no markup"
