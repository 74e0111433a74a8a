"""Two executors: one round is encoded while the one before is decoded (WhisperFlow, section 4.3). Must not know what
rounds are made of.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from predtui.asr.whisperflow.model import Encoded
from predtui.asr.whisperflow.rounds import Job, Outcome, Round, RoundRunner
from predtui.asr.whisperflow.transcription import Transcription


@dataclass(frozen=True, slots=True)
class _Running:
    """A round in the executors, begun at second ``begun``."""

    round: Round
    begun: float
    encoded: Future[tuple[Encoded, Job]]
    heard: Future[Transcription]


class Pipeline:
    """Runs the rounds of ``runner`` in the order in which they come."""

    def __init__(self, runner: RoundRunner, now: Callable[[], float]) -> None:
        self._runner, self._now = runner, now
        self._encoder, self._decoder = (ThreadPoolExecutor(1, name) for name in ("encode", "decode"))
        self._running: deque[_Running] = deque()

    @property
    def busy(self) -> bool:
        """Whether the newest round is still being encoded: another would only wait."""
        return bool(self._running) and not self._running[-1].encoded.done()

    def submit(self, one: Round) -> None:
        encoded = self._encoder.submit(self._runner.encode, one)
        heard = self._decoder.submit(lambda: self._runner.decode(encoded.result()[1]))
        self._running.append(_Running(one, self._now(), encoded, heard))

    def done(self, wait: bool) -> list[Outcome]:
        """The oldest rounds, which are done; ``wait``: all of them. Each comes once."""
        outcomes = []
        while self._running and (wait or self._running[0].heard.done()):
            one = self._running.popleft()
            heard, (encoded, _) = one.heard.result(), one.encoded.result()
            outcomes.append(Outcome(one.round, heard, self._now() - one.begun, encoded.gflops))
        return outcomes

    def forget(self) -> None:
        """What runs is of an utterance that is over."""
        self._running.clear()
