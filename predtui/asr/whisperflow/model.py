"""One Whisper checkpoint, ready to hear sounds of any length: CTranslate2 encodes, a ``Decoding`` decodes.

``encode`` and ``decode`` are apart, so that they can run at the same time on different rounds. Must not know of streams
or turns.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from predtui.asr.agreement import Word
from predtui.asr.languages import AUTO, only_english
from predtui.asr.plain import plain
from predtui.asr.whisperflow import band, ct2_weights
from predtui.asr.whisperflow.decoder import NumpyDecoder
from predtui.asr.whisperflow.decoding import Decoding, DecodingResult, DecodingTask, PlainDecoding, PrunedDecoding
from predtui.asr.whisperflow.mel import FRAMES_A_SECOND, Mel, Samples, log_mel, padded
from predtui.asr.whisperflow.pruning import Pruning
from predtui.asr.whisperflow.search import Rules
from predtui.asr.whisperflow.timing import SECONDS_A_POSITION
from predtui.asr.whisperflow.transcription import TimedWord, Transcription
from predtui.errors import PredtuiError
from predtui.files import read_json
from predtui.system.threads import limit
from predtui.words import joined, unspaced

RATE = 16_000
LONGEST_TOKENS = 200
LEAST_TOKENS, TOKENS_A_SECOND = 8, 16
"""More tokens than anyone speaks, however short they are: what goes on beyond is a loop."""
CACHED_WEIGHTS = 8_000_000
"""Numbers in a decoder's matrices that a CPU's cache has room for; beyond, products in 8 bits are several times as fast
as numpy's."""
PROMPT_TOKENS = 100
"""Of the text before, as much is given to the decoder; less where its context has no room for that and for the longest
text. The pocket Whisper's has none: it hears worse after a text than without."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A sound's encoder ``states`` as decoding attends to them; ``positions`` of them are the sound itself, without
    what was appended."""

    states: Any
    positions: int
    gflops: float


class DecodeJob:
    """The words of one sound while they are written, a forward at a time, by one thread after another."""

    def __init__(
        self, steps: Generator[int, None, DecodingResult], transcribed: Callable[[DecodingResult], Transcription]
    ) -> None:
        self._steps, self._transcribed = steps, transcribed
        self._count = 0
        self._found: DecodingResult | None = None

    def step(self) -> bool:
        """A forward; whether all is written now."""
        if self._found is None:
            try:
                self._count = next(self._steps)
            except StopIteration as end:
                self._found = end.value
        return self._found is not None

    def advance(self, tokens: float) -> None:
        """Forwards until so many ``tokens`` are written, or all of them."""
        while self._count < tokens and not self.step():
            pass

    def result(self) -> Transcription:
        """The rest, and when each word was said."""
        self.advance(math.inf)
        assert self._found is not None
        return self._transcribed(self._found)


class WhisperModel:
    """The model of a CTranslate2 folder with a ``tokenizer.json``; ``hush``: samples that end every sound."""

    def __init__(
        self, folder: Path, threads: int = 1, language: str = "en", device: str = "auto", hotwords: str = ""
    ) -> None:
        """``hotwords``: words that may be said, if its context has room for them; ``threads``: of all numeric libraries
        of this process, of which the last load sets the number. Raises PredtuiError where the folder is no such model.
        """
        import ctranslate2
        from tokenizers import Tokenizer

        if not (folder / "tokenizer.json").is_file():
            raise PredtuiError(f"{folder} has no tokenizer.json.", "Take it from the model's Hugging Face folder.")
        try:
            self._on_cpu = device == "cpu" or not ctranslate2.get_cuda_device_count()
            self._encoder: Any = ctranslate2.models.Whisper(
                str(folder),
                device=device,
                intra_threads=threads,
                compute_type="int8_float32" if self._on_cpu else "default",
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise PredtuiError(
                f"{folder} is not a Whisper model for CTranslate2: {error}.", "Choose another."
            ) from error
        limit(threads)
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._hotwords = self._tokens(hotwords)
        self._shapes = ct2_weights.shapes(folder)
        self.mels = self._shapes["encoder/conv1/weight"][1]
        self._widening = band.find(folder, self.mels)
        self.widens = True
        """Whether narrow sounds get upper bands, where the model needs them."""
        self.window = 2 * self._shapes["encoder/position_encodings/encodings"][0]
        self._context = self._shapes["decoder/position_encodings/encodings"][0]
        self._vocabulary: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=True)
        self._sot_sequence = self._make_sot_sequence(folder, language)
        config = read_json(folder / "config.json")
        self._rules = self._make_rules(config)
        self._decoding = self._make_decoding(folder, config, threads)

    @property
    def seconds(self) -> float:
        """The longest sound."""
        return float(self.window / FRAMES_A_SECOND)

    def encode(self, samples: Samples, tail: Samples, pad_to: int = 0) -> Encoded:
        """``samples`` with ``tail`` after them, then padded with digital silence to ``pad_to`` frames. A sound beyond
        the window loses its end."""
        mel = log_mel(np.concatenate([samples, tail]), self.mels)
        if self.widens and self._widening:
            said = len(samples) * FRAMES_A_SECOND // RATE
            mel = np.concatenate([self._widening(mel[:, :said]), mel[:, said:]], axis=1)
        mel = padded(mel, pad_to)
        return self.encode_mel(mel, -(-len(samples) // (2 * RATE // FRAMES_A_SECOND)))

    def encode_mel(self, mel: Mel, positions: int) -> Encoded:
        """The same of log-mel frames [mels, frames], of which the first ``positions`` pairs are the sound itself."""
        import ctranslate2

        view = ctranslate2.StorageView.from_array(np.ascontiguousarray(mel[None, :, : self.window]))
        states = self._encoder.encode(view, to_cpu=True)
        gflops = self.gflops(min(mel.shape[1], self.window))
        return Encoded(self._decoding.cross_attention(states), max(1, min(states.shape[1], positions)), gflops)

    def decode_job(
        self, encoded: Encoded, prompt: str, reference: Sequence[int], beam: int = 5, pruning: Pruning = "forward"
    ) -> DecodeJob:
        """The words in ``encoded``, to be written. ``prompt``: the text before; ``reference``: what the round before
        wrote for it."""
        longest = LEAST_TOKENS + int(TOKENS_A_SECOND * SECONDS_A_POSITION * encoded.positions)
        rules = replace(self._rules, longest=min(longest, self._rules.longest))
        previous = self._previous(prompt)
        task = DecodingTask(previous, self._sot_sequence, rules, encoded.positions, reference, beam, pruning)
        return DecodeJob(self._decoding.steps(task, encoded.states), self._transcription)

    def decode(
        self, encoded: Encoded, prompt: str, reference: Sequence[int], beam: int = 5, pruning: Pruning = "forward"
    ) -> Transcription:
        """All of ``decode_job`` at once."""
        return self.decode_job(encoded, prompt, reference, beam, pruning).result()

    def _transcription(self, found: DecodingResult) -> Transcription:
        words = self._words(found.tokens, found.times)
        text = joined(one.word.text for one in words)
        return Transcription(
            words=words,
            no_speech=found.no_speech,
            mean_logprob=found.mean_logprob,
            compression=len(text) / len(zlib.compress(text.encode())) if text else 0.0,
            effort=found.effort,
        )

    def align(self, encoded: Encoded, text: str) -> tuple[TimedWord, ...]:
        """The words of ``text``, which is known to be said in ``encoded``, with their times (forced alignment)."""
        tokens: list[int] = self._tokenizer.encode(f" {text.strip()}", add_special_tokens=False).ids
        tokens = tokens[: self._rules.longest]
        times = self._decoding.align(self._sot_sequence, tokens, encoded.states, encoded.positions)
        return self._words(tokens, times)

    def gflops(self, frames: int) -> float:
        """Floating-point operations of the encoder over ``frames``, in 10^9; multiplying and adding are two."""
        width, mels, _ = self._shapes["encoder/conv1/weight"]
        layers = sum(name.endswith("/ffn/linear_0/weight") for name in self._shapes)
        hidden = self._shapes["encoder/layer_0/ffn/linear_0/weight"][0]
        positions = -(-frames // 2)
        convolutions = 3 * width * (mels * frames + width * positions)
        layer = positions * (4 * width**2 + 2 * width * hidden) + 2 * positions**2 * width
        return float(2 * (convolutions + layers * layer) / 1e9)

    def _previous(self, prompt: str) -> tuple[int, ...]:
        """The hotwords, in half of the room at most, and the newest of ``prompt``, as far as there is room."""
        room = max(0, min(PROMPT_TOKENS, self._context - LONGEST_TOKENS - len(self._sot_sequence) - 1))
        known = self._hotwords[: room // 2]
        tokens = [*known, *_last(self._tokens(prompt), room - len(known))]
        return (self._vocabulary["<|startofprev|>"], *tokens) if tokens else ()

    def _tokens(self, text: str) -> list[int]:
        found: list[int] = (
            self._tokenizer.encode(f" {text.strip()}", add_special_tokens=False).ids if text.strip() else []
        )
        return found

    def _make_sot_sequence(self, folder: Path, language: str) -> tuple[int, ...]:
        """Start, with the language where the model knows several, and no timestamps. Raises PredtuiError where it does
        not know that one."""
        names = ["<|startoftranscript|>"]
        if self._encoder.is_multilingual:
            if language == AUTO:
                raise PredtuiError(
                    "WhisperFlow has to be told the language, and asr.language is auto.",
                    "Name it, as in --asr-language de, or choose --asr faster-whisper, which finds it out.",
                )
            names += [f"<|{language}|>", "<|transcribe|>"]
        elif wrong := only_english(folder, language):
            raise wrong
        names.append("<|notimestamps|>")
        unknown = [name for name in names if name not in self._vocabulary]
        if unknown:
            raise PredtuiError(f"the Whisper model has no token {unknown[0]}.", "Choose another language or model.")
        silence = [name for name in ("<|nospeech|>", "<|nocaptions|>") if name in self._vocabulary]
        self._no_speech = self._vocabulary[silence[0]] if silence else self._vocabulary[names[-1]]
        return tuple(self._vocabulary[name] for name in names)

    @property
    def large(self) -> bool:
        """Whether the decoder's matrices do not fit into a CPU's cache."""
        matrices = [shape for name, shape in self._shapes.items() if name.startswith("decoder/") and len(shape) == 2]
        return sum(map(math.prod, matrices)) > CACHED_WEIGHTS

    def _make_decoding(self, folder: Path, config: Mapping[str, Any], threads: int) -> Decoding:
        if self.large and not self._on_cpu:
            return PlainDecoding(self._encoder)
        weights = ct2_weights.read(folder, "decoder/")
        aligning = [(layer, head) for layer, head in config.get("alignment_heads", ())]
        if self.large:
            from predtui.asr.whisperflow.onnx_decoder import OnnxDecoder

            return PrunedDecoding(OnnxDecoder(weights, aligning, threads), self._no_speech)
        return PrunedDecoding(NumpyDecoder(weights, aligning), self._no_speech)

    def _make_rules(self, config: Mapping[str, Any]) -> Rules:
        end = self._vocabulary["<|endoftext|>"]
        listed = [token for token in config.get("suppress_ids", ()) if token >= 0 and token != end]
        special = range(
            end + 1, self._shapes["decoder/embeddings/weight"][0]
        )  # timestamps among them, which a tokenizer may not list
        marks = frozenset(
            token
            for text, token in self._vocabulary.items()
            if token < end and not any(letter.isalnum() for letter in text.replace("Ġ", ""))
        )
        longest = min(LONGEST_TOKENS, self._context // 2)
        return Rules(end, longest, tuple(sorted({*listed, *special})), marks)

    def _words(self, tokens: Sequence[int], times: Any) -> tuple[TimedWord, ...]:
        """Tokens that begin with a blank begin a word, and those with a letter of a script without spaces; marks are
        none."""
        begins = [index for index, token in enumerate(tokens) if self._begins(token) or index == 0]
        parts = list(pairwise([*begins, len(tokens)]))
        texts = plain(self._tokenizer.decode(list(tokens[begin:end])).strip() for begin, end in parts)
        found = []
        for (begin, end), text in zip(parts, texts, strict=True):
            if text:
                last = max(float(times[end]), float(times[begin]) + SECONDS_A_POSITION)
                found.append(TimedWord(Word(text, float(times[begin]), last), tuple(tokens[begin:end])))
        return tuple(found)

    def _begins(self, token: int) -> bool:
        spelled = self._tokenizer.id_to_token(token)
        return spelled.startswith("Ġ") or (not spelled.isascii() and unspaced(self._tokenizer.decode([token])[:1]))


def _last(tokens: list[int], count: int) -> list[int]:
    return tokens[-count:] if count else []
