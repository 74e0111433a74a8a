"""A turn without a screen: types or plays a prompt into the pipeline and prints what happens. No Textual here."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from predtui.clock import RealClock
from predtui.commands.printers import JsonPrinter, LinePrinter
from predtui.runtime.build import make_pipeline
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.typing import Typed
from predtui.settings import Settings
from predtui.state import events as ev
from predtui.state.recorder import Recorder
from predtui.state.reducer import reduce
from predtui.state.session import play
from predtui.state.turn import Turn

EXAMPLE = "what is the capital of france"
AT_ONCE_S = 0.3
"""Seconds of idleness before the baseline of the only turn there is gets measured."""
PATIENCE_S = 120.0
"""Seconds in which nothing happens, after which a turn is given up with a message."""
LAST_WORDS_S = 0.1
"""Seconds waited for what the last event brings about."""
LONG_S = 60.0
"""Typing that takes longer is announced."""
Inbox = queue.SimpleQueue[ev.Event]
Show = Callable[[ev.Event], None]


def example(settings: Settings, why: str) -> int:
    """What plain ``predtui`` does where no screen can be drawn, for the reason ``why``: one example turn."""
    print(f"{why}, so this plays one example turn; in a terminal, predtui opens its screen.\n", flush=True)
    return run_turn(settings, text=EXAMPLE)


def run_turn(
    settings: Settings,
    text: str = "",
    wav: Path | None = None,
    cps: float = 10.0,
    as_json: bool = False,
    record: Path | None = None,
) -> int:
    """Runs one turn to its end; exit status 0 where a reply was committed. ``cps``: characters typed a second.

    ``record``: the folder that every event and sound is kept in. Raises PredtuiError where that cannot be, and for a
    ``wav`` that cannot be played, before anything is started.
    """
    if wav is not None:
        from predtui.audio.sources import check_sound

        check_sound(wav)
    needed = {"llm", "tts", "player"} | ({"mic", "asr"} if wav else set())
    printer = JsonPrinter(sys.stdout) if as_json else LinePrinter(sys.stdout)
    inbox: Inbox = queue.SimpleQueue()
    pipeline = make_pipeline(settings, only=needed, idle_s=AT_ONCE_S)
    pipeline.subscribe(inbox.put)
    recorder = Recorder(record, pipeline.publish) if record else None
    if recorder:
        pipeline.subscribe(recorder)
    pipeline.start()
    try:
        if until_ready(inbox, printer.show, needed):
            before = pipeline.state.number
            threading.Thread(target=feed, args=(pipeline, text, wav, cps), name="typing", daemon=True).start()
            speaks = settings.tts.engine != "none"
            until_over(pipeline, inbox, printer.show, before, wants_baseline=settings.llm.baseline, speaks=speaks)
        printer.close(pipeline.state)
        return 0 if pipeline.state.reply_text else 1
    finally:
        pipeline.stop()
        if recorder:
            recorder.close()


def until_ready(inbox: Inbox, show: Show, needed: set[str]) -> bool:
    """Waits for every stage to be ready or to have failed. False where one that a turn cannot do without has failed."""
    settled: dict[str, ev.StageState] = {}
    for event in events(inbox):
        show(event)
        if isinstance(event, ev.StageStatus) and event.state in ("ready", "failed"):
            settled[event.stage] = event.state
        if settled.keys() >= needed:
            break
    vital = needed & {"llm", "asr", "mic"}
    return all(settled.get(stage) == "ready" for stage in vital)


def feed(pipeline: Pipeline, text: str, wav: Path | None, cps: float) -> None:
    """Types ``text`` at ``cps`` characters a second, or plays ``wav`` into the recogniser."""
    if wav is not None:
        pipeline.listen_file(wav)
        return
    if (seconds := len(text) / cps) > LONG_S:
        took = f"{len(text):,} characters at {cps:g} a second take {seconds / 60:,.0f} minutes."
        pipeline.publish(ev.Notice(text=f"{took} More a second: --cps."))
    for count in range(1, len(text) + 1):
        pipeline.type_line(Typed(text[:count]))
        time.sleep(1 / cps)
    pipeline.type_line(Typed(text, final=True))


def until_over(pipeline: Pipeline, inbox: Inbox, show: Show, before: int, wants_baseline: bool, speaks: bool) -> None:
    """Until the reply of a turn after number ``before`` is committed and heard, and, where wanted, its baseline
    measured."""
    for event in events(inbox):
        show(event)
        state = pipeline.state
        if state.number <= before or (state.phase != "done" and not (state.reply and not speaks)):
            continue
        if state.measured(speaks) or not wants_baseline or not state.reply_text:
            break
    with contextlib.suppress(queue.Empty):  # what the last event brings about
        while True:
            show(inbox.get(timeout=LAST_WORDS_S))


def events(inbox: Inbox) -> Iterator[ev.Event]:
    """Events until none has come for ``PATIENCE_S``; that time passes is no sign of life."""
    deadline = time.monotonic() + PATIENCE_S
    while (left := deadline - time.monotonic()) > 0:
        try:
            event = inbox.get(timeout=left)
        except queue.Empty:
            break
        if not isinstance(event, ev.PASSING):
            deadline = time.monotonic() + PATIENCE_S
        yield event
    print(f"predtui: nothing happened for {PATIENCE_S:.0f} s; giving up. See the log.", file=sys.stderr)


def print_replay(file: Path, speed: float = 1.0) -> int:
    """A recorded session in lines, as it was live, ``speed`` times as fast. Raises PredtuiError where there is none."""
    printer, turn = LinePrinter(sys.stdout), Turn()

    def publish(event: ev.Event) -> None:
        nonlocal turn
        turn = reduce(turn, event)
        printer.show(event)

    play(file, publish, RealClock(), speed)
    printer.close(turn)
    return 0
