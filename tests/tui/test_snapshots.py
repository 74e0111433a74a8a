"""How the screen looks: at three sizes, in every theme, and what opens over it. Turns are frozen, nothing blinks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from predtui.models.offer import Offer
from predtui.models.shipped import themes_folder
from predtui.settings import Settings, with_values
from predtui.state import events as ev
from predtui.state.exchange import Exchange
from predtui.state.kept import kept_file, store
from predtui.state.kept.keeper import Keeper
from predtui.state.reducer import reduce
from predtui.state.turn import Turn
from predtui.tui.themes import load_themes
from predtui.tui.widgets.utilisation import UtilisationPane
from tests.tui import shelves
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, by_path, first_exchange, machine, speculating, utilised

Compare = Callable[..., bool]
SIZES = [(40, 12), (60, 16), (80, 24), (120, 36), (200, 50)]
LOSSY = ev.Verdict(
    turn=2, revision=12, outcome="partial", accepted=3, of=14, forwards=7, ms=122.4, verifier="lenient", lossless=False
)
BUSY = ev.Usage(
    time=2.0, cpu=80.0, gpu=23.0, memory_mb=700.0, gpu_memory_mb=2345.0,
    stages=(("asr", 8.0, 96.0), ("llm", 131.0, 1214.0), ("tts", 2.0, 41.0)),
)  # fmt: skip
LOADED = ev.StageStatus(stage="llm", state="ready", message="pocket · 5.9M · llama.cpp · cpu")
BOOTING = [
    ev.StageStatus(stage="mic", state="ready", message="No microphone found. Plug one in.", lacks="microphone"),
    ev.StageStatus(stage="player", state="failed", message="No module named sounddevice."),
    ev.StageStatus(stage="asr", state="starting", progress=0.4, message="reading the acoustic model"),
    LOADED,
    ev.StageStatus(stage="tts", state="restarting", message="killed by SIGKILL"),
]
SCENES: dict[str, list[ev.Event]] = {
    "booting": BOOTING,
    "speculating": [*machine(), LOADED, *first_exchange(), *speculating(5), LOSSY, BUSY],
    "answered": [*machine(), LOADED, *first_exchange(), *answered()],
}
DRAFTING = [
    *(
        ev.Work(turn=2, revision=5, stage=worker, start=start, end=start + share * 0.1)
        for worker, share in (("target", 0.9), ("draft", 0.5))
        for start in (10.5, 10.9, 11.3, 11.7, 12.1)
    ),
    ev.Decoding(
        turn=2, revision=5, decoder="duo", proposed=5, accepted=4, acceptance_rate=0.87, tokens_per_forward=3.9
    ),
]
HM = "Okay, the user asks for the capital of a country. France is meant. Its capital is Paris, on the Seine."
THINKING = ev.Candidate(turn=2, revision=13, tokens=41, thought=ev.Thought(HM, 41, 1240.0))


def frozen(
    compare: Compare, make_app: MakeApp, size: tuple[int, int], scene: str, keys: Iterable[str] = (), **o: Any
) -> bool:
    """Whether the screen looks as it did; ``keys`` are pressed once the driver runs."""

    async def settle(pilot: Pilot[None]) -> None:
        await pilot.press(*keys)
        await pilot.app.workers.wait_for_complete()

    app = make_app(ScriptedDriver(SCENES[scene]), **o)
    return compare(app, terminal_size=size, run_before=settle)


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_main_screen(snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], scene: str) -> None:
    assert frozen(snap_compare, make_app, size, scene)


def test_a_decoder_that_drafts(snap_compare: Compare, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCENES, "drafting", [*SCENES["speculating"], *DRAFTING])
    assert frozen(snap_compare, make_app, (80, 24), "drafting")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_turn_that_may_be_over_behind_a_reply_that_was_silenced(
    snap_compare: Compare, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    exchange = [event for event in first_exchange() if not isinstance(event, ev.Playback)]
    sound = ev.SpeechChunk(turn=1, revision=1, time=2.6, pcm=b"\0\0")
    played = ev.Playback(turn=1, revision=1, time=2.8, state="started", of=1.5)
    silenced = ev.Interrupt(turn=1, revision=2, time=3.1)
    over = ev.EndOfTurn(turn=2, revision=5, prompt="what is the capital", probability=0.02)
    monkeypatch.setitem(SCENES, "silenced", [*machine(), *exchange, sound, played, silenced, *speculating(), over])
    assert frozen(snap_compare, make_app, size, "silenced")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_word_that_is_being_said(
    snap_compare: Compare, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    at = {"turn": 2, "revision": 7}
    marks = tuple(ev.WordMark(place, 0.3 * number) for number, place in enumerate([0, 4, 12, 15, 22, 25]))
    sound = ev.SpeechChunk(**at, time=12.919, index=0, pcm=b"\0\0", words=marks)
    said = ev.Playback(**at, time=14.0, state="playing", index=0, seconds=1.0, within=1.0, of=1.7)
    monkeypatch.setitem(SCENES, "said", [*SCENES["answered"], sound, said])
    assert frozen(snap_compare, make_app, size, "said")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_reply_that_rests_on_notes(
    snap_compare: Compare, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    names = ("trip.md", "garden/what to sow in april.txt", "paris.md")
    found = ev.Retrieved(turn=2, revision=7, notes=names, passages=3, count=6, held=4, final=True)
    monkeypatch.setitem(SCENES, "noted", [*SCENES["answered"], found])
    assert frozen(snap_compare, make_app, size, "noted")


@pytest.mark.parametrize("more", ["thinking", "thought"])
@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_model_that_thinks(
    snap_compare: Compare, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], more: str
) -> None:
    answer = {} if more == "thinking" else {"kept": "The capital of France", "new": " is Paris.", "tokens": 53}
    monkeypatch.setitem(SCENES, "thinking", [*SCENES["speculating"], replace(THINKING, **answer)])
    assert frozen(snap_compare, make_app, size, "thinking")


@pytest.mark.parametrize("theme", load_themes([themes_folder()]).names)
def test_theme(snap_compare: Compare, make_app: MakeApp, theme: str) -> None:
    assert frozen(snap_compare, make_app, (120, 36), "speculating", theme=theme)


@pytest.mark.parametrize(("name", "keys"), [("help", ["f1"]), ("model", ["f4"]), ("typed", [*"what is th"])])
def test_over_it(snap_compare: Compare, make_app: MakeApp, name: str, keys: list[str]) -> None:
    assert frozen(snap_compare, make_app, (80, 24), "answered", keys, model_options=by_path)


SPED = ev.Continuation(
    turn=2, revision=1, prompt="what is the capital", sentence="A capital is a city.", forwards=9, ms=84.2
)
FORESEEN = [
    *machine(),
    *first_exchange(),
    ev.TurnStarted(turn=2, time=10.0),
    ev.Verdict(turn=2, revision=1, time=10.4, outcome="partial", accepted=3, of=9, forwards=14, ms=33.0),
    SPED,
    ev.Transcript(turn=2, revision=2, time=11.0, stable="what is the capital", unfinished=False),
    ev.Verdict(turn=2, revision=2, time=11.1, outcome="accept", accepted=9, of=9, forwards=0, ms=0.4),
    ev.Candidate(turn=2, revision=2, prompt=SPED.prompt, kept=SPED.sentence, new=" It governs.", tokens=14),
    *(
        ev.Continuation(
            turn=2, revision=2, prompt=f"{SPED.prompt} {way}", sentence=reply, forwards=8, ms=60.0, share=0.3
        )
        for way, reply in (
            ("of", "The capital of what?"),
            ("of france", "The capital of France is Paris."),
            ("of spain", "The capital of Spain is Madrid."),
        )
    ),
    ev.SpeechReady(turn=2, revision=2, text="The capital of what?", seconds=1.0, complete=True, chunks=9),
    ev.SpeechReady(turn=2, revision=2, text="The capital of France is Paris.", seconds=0.4, chunks=5),
]


@pytest.mark.parametrize("theme", ["midnight", "daylight"])
@pytest.mark.parametrize("size", SIZES[:4], ids=lambda size: f"{size[0]}x{size[1]}")
def test_what_is_foreseen(
    snap_compare: Compare, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], theme: str
) -> None:
    """A way to go on came true, others are shown, and the first of them stands in grey behind what is typed."""
    monkeypatch.setitem(SCENES, "foreseen", FORESEEN)
    assert frozen(snap_compare, make_app, size, "foreseen", [*"what is the capital "], theme=theme)


LINES = ["what does this do?", "def f(x):", "  return x + 1", "", "please", "explain it in one sentence"]


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_several_lines(snap_compare: Compare, make_app: MakeApp, size: tuple[int, int]) -> None:
    async def paste(pilot: Pilot[None]) -> None:
        pilot.app.post_message(Paste("\n".join(LINES)))
        await pilot.pause()

    assert snap_compare(make_app(ScriptedDriver(SCENES["answered"])), terminal_size=size, run_before=paste)


@pytest.mark.parametrize("theme", ["midnight", "daylight"])
@pytest.mark.parametrize("size", SIZES[:4], ids=lambda size: f"{size[0]}x{size[1]}")
def test_offer(
    snap_compare: Compare,
    make_app: MakeApp,
    size: tuple[int, int],
    theme: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path))
    assert frozen(snap_compare, make_app, size, "booting", theme=theme, offer=Offer(Settings()))


def test_replay(snap_compare: Compare, make_app: MakeApp) -> None:
    assert frozen(snap_compare, make_app, (120, 36), "answered", read_only=True)


@pytest.mark.parametrize("theme", ["midnight", "daylight"])
@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_models(
    snap_compare: Compare,
    make_app: MakeApp,
    size: tuple[int, int],
    theme: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shelves.fill(Path(os.environ["HOME"]), monkeypatch)
    assert frozen(snap_compare, make_app, size, "answered", ["f4"], theme=theme, model_options=by_path)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_without_colours(
    snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert frozen(snap_compare, make_app, size, "speculating")


SPIDER = ("how many legs has a spider", "A spider has eight legs.")
EARLIER = [
    [("what is the capital of spain", "Madrid."), ("and who lives there", "Many people do.")],
    [("how do i tell a moth from a butterfly, and which of the two is out at night", "A moth rests flat.")],
    [SPIDER, *[("and an ant", "Six.")] * 12],
]


def keep(dialogues: list[list[tuple[str, str]]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A day apart each, in UTC."""
    monkeypatch.setenv("PREDTUI_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr("predtui.tui.screens.sessions.day", lambda seconds: f"2026-11-{21 + seconds:02.0f} 09:30")
    with store.Store(kept_file(), "before") as kept:
        for day, dialogue in enumerate(dialogues):
            monkeypatch.setattr(store, "time", SimpleNamespace(time=lambda day=day: float(day)))
            number = 0
            for place, sides in enumerate(dialogue):
                number = kept.put(number, place, Exchange(*sides))


@pytest.mark.parametrize("key", ["f7", "ctrl+r"])
@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_what_was_said_before(
    snap_compare: Compare,
    make_app: MakeApp,
    size: tuple[int, int],
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    keep(EARLIER, monkeypatch, tmp_path)
    keeper = Keeper(kept_file(), Turn, lambda event: None)
    keeper.close()
    keeper.session = 3
    assert frozen(snap_compare, make_app, size, "answered", [key, *"a"], keeper=keeper)


@pytest.mark.parametrize("theme", ["midnight", "daylight", "contrast"])
def test_text_that_is_selected(snap_compare: Compare, make_app: MakeApp, theme: str) -> None:
    async def select(pilot: Pilot[None]) -> None:
        await pilot.mouse_down(offset=(8, 2))
        await pilot.hover(offset=(20, 4))
        await pilot.mouse_up(offset=(20, 4))

    app = make_app(ScriptedDriver(SCENES["answered"]), theme=theme)
    assert snap_compare(app, terminal_size=(80, 24), run_before=select)


MARKDOWN = """Here is **how**, in *three* steps:

1. Ask `git status` what is new.
2. Take what you want, and no more:

```sh
git add --patch
    # and so on
```

3. Write down why.

## Then
> Nothing is lost that was committed.

- [a link](https://example.org) stays as it is written"""


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_reply_in_markdown(
    snap_compare: Compare, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setitem(SCENES, "markdown", markdown())
    assert frozen(snap_compare, make_app, size, "markdown")


def markdown() -> list[ev.Event]:
    at: dict[str, Any] = {"turn": 1, "revision": 1, "time": 2.7}
    said = ev.Transcript(**at, stable="how do I commit", unfinished=False, final=True)
    return [
        *machine(),
        LOADED,
        ev.TurnStarted(turn=1, time=2.0),
        said,
        ev.ReplyCommitted(**at, index=0, text=MARKDOWN),
        ev.ReplyFinished(**at, prompt="how do I commit", text=MARKDOWN),
    ]


@pytest.mark.parametrize("theme", ["midnight", "daylight", "moss"])
@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_settings(snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], theme: str) -> None:
    settings = with_values(Settings(), {"ui.theme": theme, "llm.verifier": "top3", "tts.rate": 200})
    assert frozen(snap_compare, make_app, size, "answered", ["f9", "down"], settings=settings)


@pytest.mark.parametrize("size", [(40, 12), (80, 24)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_setting(snap_compare: Compare, make_app: MakeApp, size: tuple[int, int]) -> None:
    settings = with_values(Settings(), {"llm.verifier": "top3"})
    assert frozen(snap_compare, make_app, size, "answered", ["f9", "down", "enter"], settings=settings)


@pytest.mark.parametrize("theme", ["midnight", "daylight", "contrast"])
@pytest.mark.parametrize("preset", ["all", "chat", "lab", "demo"])
def test_presets(snap_compare: Compare, make_app: MakeApp, preset: str, theme: str) -> None:
    assert frozen(snap_compare, make_app, (120, 36), "answered", theme=theme, preset=preset)


@pytest.mark.parametrize("preset", ["all", "chat", "lab", "demo"])
def test_presets_in_a_small_window(snap_compare: Compare, make_app: MakeApp, preset: str) -> None:
    assert frozen(snap_compare, make_app, (80, 24), "answered", preset=preset)


def test_a_zoomed_pane(snap_compare: Compare, make_app: MakeApp) -> None:
    assert frozen(snap_compare, make_app, (120, 36), "answered", ["tab", "tab", "tab", "tab", "z"])


@pytest.mark.parametrize(("size", "cores", "gpu", "theme"), [
    ((80, 24), 2, False, "midnight"), ((120, 36), 8, True, "midnight"), ((200, 50), 64, True, "daylight"),
], ids=["80x24", "120x36", "200x50"])  # fmt: skip
def test_a_machine_at_work(
    snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], cores: int, gpu: bool, theme: str
) -> None:
    driver = ScriptedDriver(SCENES["answered"])

    async def watch(pilot: Pilot[None]) -> None:
        pane = pilot.app.query_one(UtilisationPane)
        pane.focus()
        await pilot.press("z")
        turn = driver.state
        for event in utilised(60, cores, gpu):
            turn = reduce(turn, event)
            pane.show(turn)
        pane.show(replace(turn, joules=41.2))

    assert snap_compare(make_app(driver, theme=theme), terminal_size=size, run_before=watch)
