"""``python -m predtui.lab.picture assets/screenshots/main.png``: the README's picture, of the app while somebody types.

The real app on the embedded models, in a terminal that Textual keeps in memory, types one question, waits for the
reply, and is drawn while it types the second: as soon as a part of a guess is kept and the rest of it is being made.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from textual.pilot import Pilot

from predtui.models.shipped import POCKET, themes_folder
from predtui.runtime.build import make_pipeline
from predtui.runtime.stages import STAGES
from predtui.settings import Settings
from predtui.state.turn import Turn
from predtui.tui.app import PredtuiApp
from predtui.tui.themes import load_themes

SIZE = (120, 36)
"""Columns and lines."""
FIRST, SECOND = "how do i make tea", "what is the capital of the netherlands"
KEY_S = 0.12
"""Between two keys."""
HALF = 24
"""Keys of the second question, after which the picture is taken as soon as a guess is kept in part and goes on."""
NEW = "+"
"""The mark of what is new in a guess, which the legend has once."""
FONTS = "Fira Code", "DejaVu Sans Mono"
"""The one that Textual names, which no library has, and one that has every mark."""
WIDTH = 1200
"""Pixels."""
PATIENCE_S = 120.0


def embedded() -> Settings:
    """The models that ship, without sound devices."""
    settings = Settings()
    return replace(
        settings,
        llm=replace(settings.llm, model=POCKET),
        asr=replace(settings.asr, model=POCKET),
        audio=replace(settings.audio, input="none", output="none"),
    )


async def taken(settings: Settings) -> str:
    """The screen as SVG. Raises TimeoutError where the app does not come so far."""
    pipeline = make_pipeline(settings)
    app = PredtuiApp(pipeline, settings, load_themes((themes_folder(),)))
    try:
        async with app.run_test(size=SIZE) as pilot:
            async with asyncio.timeout(PATIENCE_S):
                await _until(app, _ready)
                await _typed(pilot, FIRST)
                await pilot.press("enter")
                await _until(app, lambda turn: turn.number == 1 and turn.phase == "done" and turn.measured())
                await _typed(pilot, SECOND[:HALF])
                for key in SECOND[HALF:]:
                    await _typed(pilot, key)
                    drawn = app.export_screenshot(title="predtui")
                    if drawn.count(NEW) > 1:
                        break
            return drawn
    finally:
        pipeline.stop()


def _ready(turn: Turn) -> bool:
    return all(name in turn.stages and turn.stages[name].state != "starting" for name in STAGES)


async def _typed(pilot: Pilot[None], text: str) -> None:
    for key in text:
        await pilot.press("space" if key == " " else key)
        await asyncio.sleep(KEY_S)


async def _until(app: PredtuiApp, reached: Callable[[Turn], bool]) -> None:
    while not reached(app.turn):
        await asyncio.sleep(KEY_S)


def save(drawn: str, out: Path) -> None:
    """Write the SVG ``drawn``, or where ``out`` ends in .png, what cairosvg makes of it."""
    if out.suffix != ".png":
        out.write_text(drawn, encoding="utf-8")
        return
    import cairosvg  # type: ignore[import-untyped]

    cairosvg.svg2png(bytestring=drawn.replace(*FONTS).encode(), write_to=str(out), output_width=WIDTH)


if __name__ == "__main__":
    save(asyncio.run(taken(embedded())), Path(sys.argv[1]))
