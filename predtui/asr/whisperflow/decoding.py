"""From encoder states to tokens with their times: the pruned search over a decoder, or CTranslate2's own.

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
from predtui.asr.whisperflow.inference import Inference
from predtui.asr.whisperflow.pruning import Pruning
from predtui.asr.whisperflow.search import Effort, Rules, Search
from predtui.asr.whisperflow.timing import SECONDS_A_POSITION, token_times

Times = npt.NDArray[np.float64]
"""Seconds at which each of n tokens begins, and the last one ends: [n + 1]."""
_FRAMES_A_POSITION = 2


@dataclass(frozen=True, slots=True)
class DecodingTask:
    """What is asked for: text after the tokens ``previous`` and ``sot_sequence`` (start of transcript), by ``rules``.
    ``reference``: what the round before wrote. ``positions`` of the encoder states are the sound itself."""

    previous: tuple[int, ...]
    sot_sequence: tuple[int, ...]
    rules: Rules
    positions: int
    reference: Sequence[int] = ()
    beam: int = 5
    pruning: Pruning = "forward"

    @property
    def prompt(self) -> list[int]:
        return [*self.previous, *self.sot_sequence]


@dataclass(frozen=True, slots=True)
class DecodingResult:
    """What was written. ``no_speech``: the probability that nobody spoke."""

    tokens: tuple[int, ...]
    times: Times
    mean_logprob: float
    no_speech: float
    effort: Effort


class Decoding(Protocol):
    """Decodes over encoder states, which it keeps in a form of its own."""

    def cross_attention(self, states: Any) -> Any:
        """The encoder's states (a StorageView [1, positions, d_model]) as ``steps`` and ``align`` take them."""
        ...

    def steps(self, task: DecodingTask, cross: Any) -> Generator[int, None, DecodingResult]:
        """The text; yields the number of tokens so far now and then."""
        ...

    def align(self, sot_sequence: Sequence[int], tokens: Sequence[int], cross: Any, positions: int) -> Times:
        """When each of ``tokens``, which are known to be said, is said."""
        ...


class PrunedDecoding:
    """Decoding over a decoder of ours. ``no_speech``: the token that stands for silence."""

    def __init__(self, decoder: Decoder, no_speech: int) -> None:
        self._decoder, self._no_speech = decoder, no_speech

    def cross_attention(self, states: Any) -> CrossAttention:
        return self._decoder.cross_attention(np.array(states, dtype=np.float32)[0])

    def steps(self, task: DecodingTask, cross: CrossAttention) -> Generator[int, None, DecodingResult]:
        inference = Inference(self._decoder, cross)
        search = Search(task.rules, task.beam, task.pruning)
        found = yield from search.steps(inference, task.prompt, task.reference, len(task.sot_sequence))
        no_speech = float(softmax(found.prompt_logits[0])[self._no_speech])
        times = np.zeros(1)
        if found.tokens:
            attention = inference.attention([*task.prompt, *found.tokens])
            times = token_times(attention[:, len(task.prompt) - 1 :], task.positions)
        found.effort.forwards = inference.forwards
        return DecodingResult(found.tokens, times, found.mean_logprob, no_speech, found.effort)

    def align(self, sot_sequence: Sequence[int], tokens: Sequence[int], cross: CrossAttention, positions: int) -> Times:
        step = self._decoder.forward(np.array([[*sot_sequence, *tokens]]), cross, Cache(), last=0)
        return token_times(step.attention[:, len(sot_sequence) - 1 :], positions)


class PlainDecoding:
    """Decoding by CTranslate2 alone, without pruning. ``whisper``: its model."""

    def __init__(self, whisper: Any) -> None:
        self._whisper = whisper

    def cross_attention(self, states: Any) -> Any:
        """CTranslate2 computes it itself."""
        return states

    def steps(self, task: DecodingTask, cross: Any) -> Generator[int, None, DecodingResult]:
        prompt = task.prompt
        yield 0
        result = self._whisper.generate(
            cross,
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
        times = self.align(task.sot_sequence, tokens, cross, task.positions)
        mean = result.scores[0] * len(tokens) / steps
        return DecodingResult(tokens, times, mean, result.no_speech_prob, effort)

    def align(self, sot_sequence: Sequence[int], tokens: Sequence[int], cross: Any, positions: int) -> Times:
        if not tokens:
            return np.zeros(1)
        frames = _FRAMES_A_POSITION * positions
        path = self._whisper.align(cross, list(sot_sequence[:-1]), [list(tokens)], [frames])[0].alignments
        begun: dict[int, int] = {}
        for token, position in path:
            begun.setdefault(token, position)
        return SECONDS_A_POSITION * np.array([begun[token] for token in range(len(tokens) + 1)], dtype=np.float64)
