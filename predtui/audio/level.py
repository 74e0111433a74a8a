"""How loud the microphone is, and why nothing is heard where it gives nothing. Must not know of words."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from predtui.audio.resample import FRAME, RATE
from predtui.state.events import Event, Notice, SoundLevel

EVERY = round(0.1 * RATE / FRAME)
"""Frames between two levels."""
NOTHING_SECONDS = 3.0
FAINT_DB = -60.0
"""Below the loudest there is: the noise of a quiet room in a microphone that works is above."""


class Meter:
    """Of one turn: frames of 20 ms in, a level each tenth of a second out, and once, what is wrong with the sound."""

    def __init__(self) -> None:
        self._squares: list[float] = []
        self._loudest = 0.0
        self._frames = 0

    def push(self, pcm: bytes) -> Iterator[Event]:
        samples = np.frombuffer(pcm, "<i2").astype(np.float32) / 32768
        self._squares.append(float(np.mean(np.square(samples))))
        self._loudest = max(self._loudest, self._squares[-1])
        self._frames += 1
        if len(self._squares) == EVERY:
            yield SoundLevel(decibels=decibels(sum(self._squares) / EVERY))
            self._squares.clear()
        if self._frames == round(NOTHING_SECONDS * RATE / FRAME) and (why := self.wrong):
            yield Notice(text=f"I hear nothing: {why}", severity="warning")

    @property
    def wrong(self) -> str:
        """Why nothing was heard so far; empty where something was."""
        if not self._loudest:
            return "the microphone gives silence. Is it muted, or is another meant? audio.input names it."
        if decibels(self._loudest) < FAINT_DB:
            return "the microphone is very faint. Turn it up, or choose another: audio.input names it."
        return ""


def decibels(square: float) -> float:
    """Of a mean square, where a full-scale square wave has 0; silence has -96, the least that 16 bits tell."""
    return max(-96.0, 10 * math.log10(square)) if square else -96.0
