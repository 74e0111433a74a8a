"""Zonos as a ``Synthesizer``: text and a manner of speaking in, a resumable stream of sound out.

Must not know of turns, candidates or playback.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from predtui.errors import PredtuiError
from predtui.llm.base import Counters
from predtui.tts.base import BufferedSpeech, Remainder, SpeechState
from predtui.tts.zonos.backbone import KeyValueCache
from predtui.tts.zonos.codec import Codec
from predtui.tts.zonos.config import CODEBOOKS
from predtui.tts.zonos.model import ZonosModel
from predtui.tts.zonos.parts import PartsState, SpeechInParts, parts
from predtui.tts.zonos.pattern import DELAY
from predtui.tts.zonos.phonemes import phonemes
from predtui.tts.zonos.sampling import SamplingOptions
from predtui.tts.zonos.speakers import Embedding
from predtui.tts.zonos.speech import Prompt, Speech, Step, ZonosState, failure
from predtui.tts.zonos.symbols import LANGUAGES, ids

FMAX = 22050.0
"""Highest frequency in Hz, that of 44.1 kHz sound."""
EMOTIONS = ("happiness", "sadness", "disgust", "fear", "surprise", "anger", "other", "neutral")
CALM = dict(zip(EMOTIONS, (0.31, 0.03, 0.03, 0.03, 0.03, 0.03, 0.26, 0.31), strict=True))
LONGEST = 600
"""Most phoneme symbols of a sentence, stress marks and spaces included: half a minute of speech at the usual rate. A
longer one is spoken in parts."""
MOST_PARTS = 4
"""Most parts of a sentence: a text beyond so many times ``LONGEST`` is refused."""
CARRIED_S = 10.0
"""Seconds up to which a sentence is the audio prefix of the next; a longer one would take half of the positions."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How to speak. ``speaker``: an embedding [128], None for the checkpoint's choice; ``emotion``: weights by name;
    ``rate``: phonemes per second (10 slow, 30 fast); ``pitch_std``: Hz (20 to 45 is normal speech)."""

    language: str = "en-us"
    speaker: Embedding | None = None
    emotion: Mapping[str, float] = field(default_factory=lambda: CALM)
    rate: float = 15.0
    pitch_std: float = 20.0
    chunk: int = 8
    """Frames per chunk of sound."""
    seconds: float = 30.0
    """Most seconds of a sentence."""
    carries: bool = True
    """Whether a sentence takes over the prosody of the one before."""


class ZonosSynthesizer:
    """``Synthesizer`` over a loaded network and codec."""

    espeak_phonemes = False

    def __init__(
        self, model: ZonosModel, codec: Codec, manner: Manner, sampling: SamplingOptions, step: Step | None = None
    ) -> None:
        """``step``: replaces the network's own."""
        self.rate = codec.rate
        self._model, self._codec, self._manner, self._sampling = model, codec, manner, sampling
        self._step = step or model.step
        self._last: tuple[Tensor, Tensor] | None = None
        """The prefix that was read last, [2, length, d_model], and its keys and values."""
        self.advice = ""
        millions = sum(tensor.numel() for tensor in model.state_dict().values()) / 1e6
        size = f"{millions / 1000:.1f}B" if millions >= 1000 else f"{millions:.1f}M"
        self.title = f"Zonos {size} · torch · {model.weight.device.type}"

    @property
    def language(self) -> str:
        """As eSpeak NG names it."""
        return self._manner.language

    @property
    def counters(self) -> Counters:
        """Forwards of the network, and positions evaluated in them."""
        return self._model.counters

    @property
    def chunk_frames(self) -> int:
        """Frames per chunk."""
        return self._manner.chunk

    @property
    def nbytes(self) -> int:
        """Bytes of memory of the weights, the codec's included."""
        networks = (self._model, self._codec.network)
        return sum(tensor.nbytes for network in networks for tensor in network.state_dict().values())

    @property
    def frame_rate(self) -> float:
        """Frames per second of speech."""
        return self._codec.rate / self._codec.hop

    def synthesize(
        self, text: str, state: SpeechState | None = None, after: SpeechState | None = None
    ) -> Speech | BufferedSpeech | SpeechInParts:
        """See ``Synthesizer``. A long text is said in parts; raises PredtuiError for one that would take too many."""
        if isinstance(state, PartsState):
            return SpeechInParts(self.synthesize, self.synthesize("", state.state), state.left)
        if isinstance(state, ZonosState):
            return self._speech(state)
        if isinstance(state, Remainder):
            return BufferedSpeech(state.chunks)
        first, *left = self._parts(text)
        speech = self._begin(first, after.state if isinstance(after, PartsState) else after)
        return SpeechInParts(self.synthesize, speech, tuple(left)) if left else speech

    def _begin(self, text: str, after: SpeechState | None) -> Speech | BufferedSpeech:
        try:
            prompt = self._prompt(text, after if isinstance(after, ZonosState) else None)
        except (RuntimeError, MemoryError) as error:
            raise failure(error) from error
        return BufferedSpeech(()) if prompt is None else self._speech(prompt)

    def close(self) -> None:
        """Memory goes with the object."""

    def _speech(self, start: Prompt | ZonosState) -> Speech:
        return Speech(self._step, self._codec, self._sampling, self._manner.chunk, start)

    def _parts(self, text: str) -> list[str]:
        def symbols(part: str) -> int:
            return len(phonemes(part, self._manner.language))

        if (length := symbols(text)) > MOST_PARTS * LONGEST:
            raise PredtuiError(
                f"A sentence of {length} phonetic symbols is too long for Zonos, which takes {MOST_PARTS * LONGEST}.",
                "Say it in parts.",
            )
        return parts(text, lambda part: symbols(part) <= LONGEST)

    def _prompt(self, text: str, before: ZonosState | None) -> Prompt | None:
        """None for a text in which there is nothing to say."""
        said = phonemes(text, self._manner.language)
        if not said:
            return None
        known = torch.empty((CODEBOOKS, 0), dtype=torch.long)
        if before is not None and self._manner.carries and before.frames.shape[1] <= CARRIED_S * self.frame_rate:
            said = f"{phonemes(before.text, self._manner.language)} {said}"
            known = before.frames
        return Prompt(text, self._read(said), known, round(self._manner.seconds * self.frame_rate))

    @torch.inference_mode()
    def _read(self, said: str) -> Tensor:
        """Keys and values of the prefix for the phonemes ``said``. What it shares with the last prefix from the start,
        as a sentence does of which a beginning was accepted, is not evaluated again."""
        prefix = self._model.prefix_conditioner.guided(self._values(said))
        shared, cache = 0, self._model.cache()
        if self._last is not None:
            before, read = self._last
            shared = _common(before, prefix)
            cache = KeyValueCache.restored(read[..., :shared, :])
        if shared < prefix.shape[1]:
            self._model.read(prefix[:, shared:], cache)
        self._last = prefix, cache.saved()
        return self._last[1]

    def _values(self, said: str) -> dict[str, Tensor]:
        """The values of the conditioners that the checkpoint has; those that it lacks are left out."""
        manner, weight = self._manner, self._model.weight
        weights = [manner.emotion.get(name, 0.0) for name in EMOTIONS]
        numbers: dict[str, list[float]] = {
            "emotion": [value / sum(weights) for value in weights],
            "fmax": [FMAX],
            "pitch_std": [manner.pitch_std],
            "speaking_rate": [manner.rate],
            "ctc_loss": [0.0],
        }
        if manner.speaker is not None:
            numbers["speaker"] = manner.speaker.tolist()
        whole = {
            "espeak": ids(said),
            "language_id": [LANGUAGES.index(manner.language)],
            "speaker_noised": [0],
        }
        wide = torch.promote_types(weight.dtype, torch.float32)
        values = {name: torch.tensor(given, dtype=wide, device=weight.device) for name, given in numbers.items()}
        values |= {name: torch.tensor(given, device=weight.device) for name, given in whole.items()}
        return {name: value for name, value in values.items() if name in self._model.names}


def positions(model: ZonosModel, codec: Codec, manner: Manner) -> int:
    """Most positions that a sentence takes: its prefix, the sentence before, its own frames."""
    frames = (CARRIED_S + manner.seconds) * codec.rate / codec.hop
    return 2 * LONGEST + len(model.names) + round(frames) + 2 * DELAY


def _common(one: Tensor, other: Tensor) -> int:
    """Leading positions in which two prefixes [2, length, d_model] are equal."""
    length = min(one.shape[1], other.shape[1])
    equal = (one[:, :length] == other[:, :length]).all(dim=2).all(dim=0)
    return int(equal.cumprod(0).sum())
