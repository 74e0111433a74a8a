"""What if: a recorded turn is asked once more, at its own pace, with another verifier, decoder or model.

The real pipeline, without a screen and without a loudspeaker: the reply passes in silence. What was recorded stays as
it is; what differs is measured here. Must not know how the two are shown.
"""

from __future__ import annotations

import queue
import tempfile
import threading
import wave
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.models.shipped import MODELS
from predtui.runtime.build import make_pipeline
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.typing import typed_as
from predtui.settings import Settings
from predtui.state import events as ev
from predtui.state.asked import Asked
from predtui.state.tape import Pace
from predtui.state.turn import Turn

PATIENCE_S = 120.0
"""Seconds in which nothing happens, after which it is given up."""
LOOK_S = 0.1
"""Seconds between two looks whether it is to be given up."""
Tell = Callable[[str], None]


class GivenUpError(PredtuiError):
    """Somebody did not want to wait for it."""


class _Headless:
    """A pipeline, and what one waits for in it."""

    def __init__(self, pipeline: Pipeline, stopped: threading.Event) -> None:
        self._inbox: queue.SimpleQueue[ev.Event] = queue.SimpleQueue()
        self._stopped = stopped
        self.pipeline = pipeline
        pipeline.subscribe(self._inbox.put)

    def until(self, done: Callable[[Turn], bool]) -> None:
        """Raises GivenUpError, or PredtuiError where nothing happens any more."""
        left = PATIENCE_S
        while not done(self.pipeline.state):
            self.rest(0.0)
            try:
                event = self._inbox.get(timeout=LOOK_S)
            except queue.Empty:
                left -= LOOK_S
            else:
                left = left if isinstance(event, ev.PASSING) else PATIENCE_S
            if left <= 0:
                raise PredtuiError(f"nothing happened for {PATIENCE_S:.0f} s.", "See the log.")

    def rest(self, seconds: float) -> None:
        """Raises GivenUpError."""
        if self._stopped.wait(seconds):
            raise GivenUpError("given up.")


def ask_again(asked: Asked, settings: Settings, tell: Tell, stopped: threading.Event | None = None) -> Turn:
    """The turn as it is with ``settings``, once the reply stands and its sound has begun. ``tell`` takes a line on
    how far it is. Raises PredtuiError where a stage cannot be opened or ends, GivenUpError once ``stopped`` is set."""
    stages = {"llm", "tts", "player"} | ({"mic", "asr"} if asked.frames else set())
    with tempfile.TemporaryDirectory() as folder:
        sound = _written(Path(folder) / "asked.wav", asked)  # a confined stage reads only what was there before it
        pipeline = make_pipeline(_silent(settings), only=stages)
        run = _Headless(pipeline, stopped or threading.Event())
        tell("starting")
        pipeline.start()
        try:
            run.until(lambda turn: _settled(turn, stages))
            _check(pipeline.state, stages)
            pipeline.resume(exchanges=asked.before)
            run.until(lambda turn: turn.number > 0)
            tell(f"asking, which takes {asked.seconds:.0f} s")
            _ask(run, asked, sound)
            tell("answering")
            run.until(lambda turn: turn.number > 1 and _over(turn))
            return _answered(pipeline.state)
        finally:
            pipeline.stop()


def as_recorded(turn: Turn, settings: Settings, given: Collection[str] = ()) -> Settings:
    """``settings``, but for those of model, verifier and decoder that are not ``given``: they are those of the recorded
    ``turn``, as far as it tells. It does not tell where a model lies: only those that ship are found by name."""
    status = turn.stages.get("llm")
    model = status.message.partition(" · ")[0] if status else ""
    llm = settings.llm
    if model in MODELS and "llm.model" not in given:
        llm = replace(llm, model=model)
    if turn.verdicts and "llm.verifier" not in given:
        llm = replace(llm, verifier=turn.verdicts[-1].verifier)
    if "llm.decoder" not in given:
        llm = replace(llm, decoder=turn.decoding.decoder if turn.decoding else "ar")
    return replace(settings, llm=llm)


def _silent(settings: Settings) -> Settings:
    """Nothing is played, nothing else measured, and nobody listens to the room."""
    audio = replace(settings.audio, input="none", output="none", hands_free=False)
    return replace(settings, audio=audio, llm=replace(settings.llm, baseline=False))


def _settled(turn: Turn, stages: set[str]) -> bool:
    states = {name: status.state for name, status in turn.stages.items() if name in stages}
    return len(states) == len(stages) and all(state in ("ready", "failed") for state in states.values())


def _check(turn: Turn, stages: set[str]) -> None:
    for name in stages & {"llm", "mic", "asr"}:
        if (status := turn.stages[name]).state == "failed":
            raise PredtuiError(f"{name} cannot be opened: {status.message}")


def _over(turn: Turn) -> bool:
    """Whether all is there that is compared: the reply, and when its sound began."""
    heard = turn.marks.audible is not None or turn.voiceless or turn.mute
    return turn.phase == "done" or (turn.reply is not None and heard)


def _answered(turn: Turn) -> Turn:
    """Raises PredtuiError where there is no reply to compare."""
    if turn.refused or not turn.reply_text:
        why = [notice.text for notice in turn.notices if notice.severity != "information"]
        raise PredtuiError("the turn was not answered this time.", " ".join(why[-2:]))
    return turn


def _ask(run: _Headless, asked: Asked, sound: Path | None) -> None:
    if sound:
        run.pipeline.listen_file(sound)
        return
    pace = Pace()
    for line in asked.lines:
        run.rest(pace.step(line))
        run.pipeline.type_line(typed_as(line))


def _written(file: Path, asked: Asked) -> Path | None:
    """What was said, in ``file``; None where it was typed. Raises PredtuiError."""
    if not asked.frames:
        return None
    try:
        with wave.open(str(file), "wb") as sound:
            sound.setparams((1, 2, asked.frames[0].rate, 0, "NONE", ""))
            sound.writeframes(asked.pcm())
    except OSError as error:
        raise PredtuiError(f"{file}: cannot be written: {error.strerror}.") from error
    return file
