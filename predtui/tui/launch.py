"""Opens the screen on a driver: the live pipeline, or a recording. The one place of ``tui`` that knows both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from predtui.session import Recorder, Replay
from predtui.settings import Settings, user_folder
from predtui.shipped import themes_folder
from predtui.tui.app import PredtuiApp
from predtui.tui.themes import load_themes
from predtui.wiring import make_pipeline

VERIFIERS = ("greedy",)
"""What F3 goes through, in order; predgen's registry has them under these names."""


def open_screen(settings: Settings, record: Path | None = None) -> int:
    """The app on the live pipeline, every event kept in ``record`` where one is given. Returns the exit status.

    Raises PredtuiError where the recording cannot be opened.
    """
    pipeline = make_pipeline(settings)
    recorder = Recorder(record, pipeline.publish) if record else None
    if recorder:
        pipeline.subscribe(recorder)

    def with_model(path: str) -> Any:
        return replace(settings.llm, model=path)

    shelf = load_themes((themes_folder(), user_folder() / "themes"))
    app = PredtuiApp(pipeline, settings, shelf, verifiers=VERIFIERS, model_options=with_model)
    try:
        app.run()
    finally:
        pipeline.stop()
        if recorder:
            recorder.close()
    if recorder:
        print(f"Recorded in {recorder.folder}; see it again with: predtui replay {recorder.folder}")
    return app.return_code or 0


def replay_screen(settings: Settings, file: Path, speed: float) -> int:
    """The same screen, driven by a recording. Raises PredtuiError where there is none or it is malformed."""
    replay = Replay(file, speed=speed)
    shelf = load_themes((themes_folder(), user_folder() / "themes"))
    app = PredtuiApp(replay, settings, shelf, read_only=True)
    try:
        app.run()
    finally:
        replay.stop()
    return app.return_code or 0
