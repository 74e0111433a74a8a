"""What writes the text of an encoded sound: the pruned search over a decoder, or CTranslate2's own.

Pruning checks what was written before in one forward, where CTranslate2, on a GPU, writes all of it anew. Must not know
of words or streams.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from predtui.asr.whisperflow.decoder import Cache, CrossAttention, Decoder, softmax
from predtui.asr.whisperflow.search import Effort, Found, Pruning, Rules, Search
from predtui.asr.whisperflow.timing import SECONDS_A_POSITION, token_times

Times = npt.NDArray[np.float64]
"""Seconds at which each of n tokens begins, and the last one ends: [n + 1]."""
_FRAMES_A_POSITION = 2


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked for: text after the tokens ``previous`` and ``opening``, by ``rules``. ``reference``: what the
    round before wrote. ``positions`` of the states are the sound itself."""

    previous: tuple[int, ...]
    opening: tuple[int, ...]
    rules: Rules
    positions: int
    reference: Sequence[int] = ()
    beam: int = 5
    pruning: Pruning = "forward"


@dataclass(frozen=True, slots=True)
class Text:
    """What was written. ``no_speech``: the probability that nobody spoke."""

    tokens: tuple[int, ...]
    times: Times
    mean_log_probability: float
    no_speech: float
    effort: Effort


class Writer(Protocol):
    """Writes over states that it keeps in a form of its own."""

    def remember(self, states: Any) -> Any:
        """The encoder's states (a StorageView [1, positions, d_model]) as ``steps`` and ``times`` take them."""
        ...

    def steps(self, task: Task, memory: Any) -> Generator[int, None, Text]:
        """The text; yields the number of tokens so far now and then."""
        ...

    def times(self, opening: Sequence[int], tokens: Sequence[int], memory: Any, positions: int) -> Times:
        """When each of ``tokens``, which are known to be said, is said."""
        ...


class PrunedWriter:
    """Writer over a decoder of ours. ``silence``: the token that stands for no speech."""

    def __init__(self, decoder: Decoder, silence: int) -> None:
        self._decoder, self._silence = decoder, silence

    def remember(self, states: Any) -> CrossAttention:
        return self._decoder.remember(np.array(states, dtype=np.float32)[0])

    def steps(self, task: Task, memory: CrossAttention) -> Generator[int, None, Text]:
        search = Search(self._decoder, task.rules, task.beam, task.pruning)
        prompt = [*task.previous, *task.opening]
        found = yield from search.steps(prompt, memory, task.reference, len(task.opening))
        found.effort.forwards += len(found.tokens) > found.known
        no_speech = float(softmax(found.opening[0])[self._silence])
        times = self._timed(found, memory, task.positions)
        return Text(found.tokens, times, found.mean_log_probability, no_speech, found.effort)

    def times(self, opening: Sequence[int], tokens: Sequence[int], memory: CrossAttention, positions: int) -> Times:
        step = self._decoder.forward(np.array([[*opening, *tokens]]), memory, Cache(), last=0)
        return token_times(step.attention[:, len(opening) - 1 :], positions)

    def _timed(self, found: Found, memory: CrossAttention, positions: int) -> Times:
        """What several hypotheses wrote takes one more forward, for its attention."""
        if not found.tokens:
            return np.zeros(1)
        attention, rest = found.attention, found.tokens[found.known :]
        if rest:
            step = self._decoder.forward(np.array([rest]), memory, found.cache, last=0)
            attention = np.concatenate([attention, step.attention], axis=1)
        return token_times(attention, positions)


class PlainWriter:
    """Writer by CTranslate2 alone, without pruning. ``whisper``: its model."""

    def __init__(self, whisper: Any) -> None:
        self._whisper = whisper

    def remember(self, states: Any) -> Any:
        return states

    def steps(self, task: Task, memory: Any) -> Generator[int, None, Text]:
        prompt = [*task.previous, *task.opening]
        yield 0
        result = self._whisper.generate(
            memory,
            [prompt],
            beam_size=task.beam,
            max_length=2 * (len(prompt) + task.rules.longest),  # of which CTranslate2 takes half for the text
            suppress_tokens=list(task.rules.suppressed),
            return_scores=True,
            return_no_speech_prob=True,
        )[0]
        tokens = tuple(token for token in result.sequences_ids[0] if token != task.rules.end)[: task.rules.longest]
        steps = len(tokens) + 1
        effort = Effort(forwards=steps, steps=steps, beams=task.beam * steps)
        times = self.times(task.opening, tokens, memory, task.positions)
        mean = result.scores[0] * len(tokens) / steps
        return Text(tokens, times, mean, result.no_speech_prob, effort)

    def times(self, opening: Sequence[int], tokens: Sequence[int], memory: Any, positions: int) -> Times:
        if not tokens:
            return np.zeros(1)
        frames = _FRAMES_A_POSITION * positions
        path = self._whisper.align(memory, list(opening[:-1]), [list(tokens)], [frames])[0].alignments
        begun: dict[int, int] = {}
        for token, position in path:
            begun.setdefault(token, position)
        return SECONDS_A_POSITION * np.array([begun[token] for token in range(len(tokens) + 1)], dtype=np.float64)
