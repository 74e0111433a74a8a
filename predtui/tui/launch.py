"""Opens the screen on a driver: the live pipeline, or a recording. The one place of ``tui`` that knows both."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from predtui.errors import PredtuiError
from predtui.models.offer import Offer
from predtui.models.places import find
from predtui.models.published import EMBEDDED, SMOLLM2, needed
from predtui.models.shipped import MODELS, place, themes_folder
from predtui.registry import LLM_ENGINES, Form
from predtui.runtime.build import loudspeaker, make_pipeline
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.replay_sound import ReplaySound
from predtui.runtime.standin import StandIn
from predtui.settings import Settings, user_folder
from predtui.state.events import Notice
from predtui.state.kept import kept_file
from predtui.state.kept.keeper import Keeper
from predtui.state.memory import Memory
from predtui.state.recorder import Recorder
from predtui.state.replay import Replay
from predtui.tui import tour
from predtui.tui.actions import bound, use
from predtui.tui.app import PredtuiApp
from predtui.tui.keymap import NAME, read_keymap
from predtui.tui.scrubbing import Scrubbing
from predtui.tui.terminal import forget_exported_size
from predtui.tui.themes import ThemeRegistry, load_themes

SIZES = range(10, 1001)
"""Columns, or lines, of a picture."""


def open_screen(
    settings: Settings,
    record: Path | None = None,
    pipeline: Pipeline | None = None,
    problem: str = "",
    resume: str = "",
) -> int:
    """The app on the live pipeline, that of the settings where none is given, every event kept in ``record`` where that
    is. ``problem`` with the settings becomes a notice; ``resume`` names the session that goes on. Returns the exit
    status.

    Raises PredtuiError where the recording cannot be opened, or there is no such session.
    """
    resumed = None
    if resume:
        from predtui.state.kept.store import kept_session

        resumed = kept_session(resume)
    pipeline = pipeline or make_pipeline(settings)
    recorder = Recorder(record, pipeline.publish) if record else None
    if recorder:
        pipeline.subscribe(recorder)

    def with_model(path: str) -> dict[str, Any]:
        if path == SMOLLM2.name:
            needed(SMOLLM2)
        return {"llm.model": path, "llm.engine": engine_of(path, app.settings.llm.engine)}

    forget_exported_size()
    themes = _themes_and_keys(problem)
    offer = None if os.environ.get(EMBEDDED) else Offer(settings)
    keeper = Keeper(kept_file(), lambda: pipeline.state, pipeline.publish, settings.sessions.private)
    pipeline.subscribe(keeper)
    if settings.sessions.private:
        pipeline.publish(Notice(text="Private: nothing of what is said is kept.", severity="warning"))
    if resumed:
        pipeline.resume(*resumed)
    memory = Memory()
    pipeline.subscribe(memory)
    scrub = Scrubbing(memory=memory)
    first = not (problem or resume or record) and tour.wanted(settings)
    app = PredtuiApp(
        pipeline, settings, themes, model_options=with_model, offer=offer, keeper=keeper, scrub=scrub,
        welcome=tour.welcome if first else None,
    )  # fmt: skip
    StandIn(pipeline).watch()
    pipeline.watch(False)  # the screen says when
    try:
        app.run()
    finally:
        pipeline.stop()
        kept, whole = keeper.close(), recorder is None or recorder.close()
    if recorder:
        print(f"Recorded in {recorder.folder}; see it again with: predtui replay {recorder.folder}")
    if not whole:
        print("The disk is slow: the end of the recording is missing.")
    if not kept:
        print("The disk is slow: the end of the conversation is not kept.")
    return app.return_code or 0


def _themes_and_keys(problem: str = "") -> ThemeRegistry:
    """Themes, those of the user too, with what is wrong with anything of theirs. Their keys are used from now on."""
    keymap = read_keymap(user_folder() / NAME, bound())
    use(keymap.keys)
    themes = load_themes((themes_folder(), user_folder() / "themes"))
    return replace(themes, problems=(*filter(None, [problem]), *keymap.problems, *themes.problems))


def engine_of(model: str, engine: str) -> str:
    """What runs ``model``: ``engine`` where it reads a form of it, else the first that does. Of a model that is not
    there, ``engine`` is to say so."""
    forms = _forms(model)
    readers = [name for name in LLM_ENGINES.offered() if LLM_ENGINES[name].reads & forms]
    return readers[0] if readers and engine not in readers else engine


def _forms(model: str) -> set[Form]:
    """Those in which the weights of ``model`` are there: a shipped one may have both."""
    if model == SMOLLM2.name:
        return {"gguf"}
    path = place(model) if model in MODELS else _located(model)
    if path is None:
        return set()
    named = model.startswith("ollama:")
    forms: set[Form] = {"gguf"} if model in MODELS or named or path.suffix.lower() == ".gguf" else set()
    whole = (path / "config.json").is_file() if model in MODELS else path.is_dir()
    return forms | {"folder"} if whole else forms


def _located(model: str) -> Path | None:
    """The file or folder of a model that is named; None where there is neither."""
    forms: tuple[Form, ...] = ("gguf", "folder")
    for form in forms:
        with suppress(PredtuiError):
            return find(model, form)
    return None


def draw(settings: Settings, file: Path, out: Path, size: str) -> None:
    """The last screen of a recording as an SVG picture, ``size`` as in "120x36".

    Raises PredtuiError for a size that is none, a recording that is none, or a file that cannot be written.
    """
    try:
        columns, lines = (int(part) for part in size.split("x"))
        if columns not in SIZES or lines not in SIZES:
            raise ValueError(size)
    except ValueError as error:
        wanted = f"{SIZES[0]} to {SIZES[-1]} columns and lines, as in 120x36"
        raise PredtuiError(f"{size!r} is not a size.", f"Give {wanted}.") from error
    replay = Replay(file, speed=1e6)
    app = PredtuiApp(replay, settings, load_themes((themes_folder(),)), read_only=True)

    async def shoot() -> str:
        async with app.run_test(size=(columns, lines)) as pilot:
            while replay.running:
                await pilot.pause(0.1)
            await pilot.pause(0.5)
            return app.export_screenshot(title="predtui")

    try:
        out.write_text(asyncio.run(shoot()), encoding="utf-8")
    except OSError as error:
        raise PredtuiError(f"{out}: cannot be written: {error.strerror}.") from error
    finally:
        replay.stop()


def replay_screen(settings: Settings, file: Path, speed: float, mute: bool = False) -> int:
    """The same screen, driven by a recording. Raises PredtuiError where there is none or it is malformed."""
    replay = Replay(file, speed=speed)
    forget_exported_size()
    themes = _themes_and_keys()
    sound = ReplaySound(replay, None if mute else partial(loudspeaker, settings))
    app = PredtuiApp(replay, settings, themes, read_only=True, scrub=Scrubbing(replay, sound))
    try:
        app.run()
    finally:
        replay.stop()
        sound.stop()
    return app.return_code or 0
