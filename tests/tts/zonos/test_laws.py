"""Streaming is offline, resumed is uninterrupted, one seed is one speech: over random texts, chunks and points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from predtui.errors import PredtuiError
from predtui.llm.base import common_prefix
from predtui.tts.zonos.checkpoint import load_model
from predtui.tts.zonos.codec import Codec, pcm
from predtui.tts.zonos.config import CODEBOOKS, EOS
from predtui.tts.zonos.model import ZonosModel
from predtui.tts.zonos.parts import parts
from predtui.tts.zonos.phonemes import phonemes
from predtui.tts.zonos.sampling import SamplingOptions
from predtui.tts.zonos.speech import Speech
from predtui.tts.zonos.symbols import ids
from predtui.tts.zonos.synthesizer import LONGEST, ZonosSynthesizer
from tests.tts.zonos import tiny_zonos

WORDS = ["the", "capital", "of", "France", "is", "Paris", "12", "why", "so", "—", "née", "yes!"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(lambda words: "a " + " ".join(words) + ".")
variants = st.sampled_from(sorted(tiny_zonos.VARIANTS))
seeds = st.integers(0, 1000)
chunks = st.integers(1, 12)
SECONDS = 0.3
some = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def voice(model: ZonosModel, codec: Codec, chunk: int, seed: int, **manner: object) -> ZonosSynthesizer:
    return tiny_zonos.synthesizer(model, codec, chunk, seed, **{"seconds": SECONDS, **manner})


def speech(voice: ZonosSynthesizer, text: str) -> Speech:
    begun = voice.synthesize(text)
    assert isinstance(begun, Speech)
    return begun


def steps(speech: Iterator[bytes], count: int) -> bytes:
    return b"".join(piece for _, piece in zip(range(count), speech, strict=False))


@some
@given(texts, variants, seeds, chunks)
def test_the_joined_stream_is_the_offline_decode(
    models: dict[str, ZonosModel], codec: Codec, text: str, variant: str, seed: int, chunk: int
) -> None:
    spoken = speech(voice(models[variant], codec, chunk, seed), text)
    pieces = [piece for piece in spoken if piece]
    frames = spoken.codes.shape[1]
    offline = pcm(codec.decode(spoken.codes)) if frames else b""
    assert b"".join(pieces) == offline
    assert all(len(piece) == 2 * codec.hop * chunk for piece in pieces[:-1])
    assert frames <= round(SECONDS * codec.rate / codec.hop)


@some
@given(texts, variants, seeds, chunks, st.lists(st.integers(1, 40), max_size=4))
def test_resumed_is_uninterrupted(
    models: dict[str, ZonosModel], codec: Codec, text: str, variant: str, seed: int, chunk: int, points: list[int]
) -> None:
    synthesizer = voice(models[variant], codec, chunk, seed)
    whole = b"".join(speech(synthesizer, text))
    state, heard = None, b""
    for point in points:
        part = synthesizer.synthesize(text, state)
        heard += steps(part, point)
        if not isinstance(part, Speech) or (state := part.save()).finished:
            break
        steps(synthesizer.synthesize("Quite another sentence, meanwhile."), 3)
        steps(part, 7)  # the former object may go on; the state does not notice
    if state is None or not state.finished:
        heard += b"".join(synthesizer.synthesize(text, state))
    assert heard == whole


@some
@given(texts, variants, seeds, chunks, chunks)
def test_the_same_seed_is_the_same_codes_whatever_the_chunk(
    models: dict[str, ZonosModel], codec: Codec, text: str, variant: str, seed: int, one: int, other: int
) -> None:
    spoken = [speech(voice(models[variant], codec, chunk, seed), text) for chunk in (one, other)]
    first, second = (b"".join(each) for each in spoken)
    assert first == second
    assert torch.equal(spoken[0].codes, spoken[1].codes)


def test_another_seed_is_another_speech(models: dict[str, ZonosModel], codec: Codec) -> None:
    said = {b"".join(speech(voice(models["published"], codec, 4, seed), "Good morning.")) for seed in range(4)}
    assert len(said) > 1


def test_in_single_precision_the_stream_is_the_offline_decode_but_for_rounding(
    folder: object, models: dict[str, ZonosModel]
) -> None:
    codec = tiny_zonos.codec(folder / "codec", torch.float32)  # type: ignore[operator]
    spoken = speech(voice(models["published"], codec, 5, 3), "Good morning.")
    streamed = torch.frombuffer(bytearray(b"".join(spoken)), dtype=torch.int16).int()
    offline = torch.frombuffer(bytearray(pcm(codec.decode(spoken.codes))), dtype=torch.int16).int()
    assert (streamed - offline).abs().max() <= 1


def test_half_precision_speaks_too(folder: object, codec: Codec) -> None:
    """As on a GPU: weights in bfloat16, of which the choice of codes sees logits in float32."""
    model = load_model(folder / "published", "cpu", torch.bfloat16)  # type: ignore[operator]
    spoken = speech(voice(model, codec, 5, 3), "Good morning.")
    assert b"".join(spoken) == pcm(codec.decode(spoken.codes))
    assert spoken.save().cache.dtype == torch.bfloat16


def test_a_state_saves_the_forwards_before_it(models: dict[str, ZonosModel], codec: Codec) -> None:
    synthesizer = voice(models["mlp"], codec, 4, 1)
    begun = speech(synthesizer, "Good morning.")
    before = synthesizer.counters.forwards
    steps(begun, 20)
    spent = synthesizer.counters.forwards - before
    state = begun.save()
    assert state.columns.shape[1] == 1 + spent == 21
    resumed = synthesizer.synthesize("Good morning.", state)
    b"".join(resumed)
    resumed_spent = synthesizer.counters.forwards - before - spent
    b"".join(begun)
    assert synthesizer.counters.forwards - before == spent + 2 * resumed_spent
    assert begun.save().nbytes < state.nbytes


@some
@given(texts, texts, variants, seeds)
def test_what_two_sentences_share_is_read_once(
    models: dict[str, ZonosModel], codec: Codec, one: str, other: str, variant: str, seed: int
) -> None:
    model = models[variant]
    alone = b"".join(voice(model, codec, 4, seed).synthesize(other))
    used = voice(model, codec, 4, seed)
    used.synthesize(one)
    before = used.counters.tokens
    speech = used.synthesize(other)
    read = used.counters.tokens - before
    assert b"".join(speech) == alone
    said = [ids(phonemes(text, "en-us")) for text in (one, other)]
    own = len(said[1]) - common_prefix(*said)
    assert read <= own + len(model.names) - 1
    assert read == 0 or own > 0


def test_a_sentence_takes_over_from_the_one_before(models: dict[str, ZonosModel], codec: Codec) -> None:
    synthesizer = voice(models["published"], codec, 4, 3)
    first = speech(synthesizer, "Good morning.")
    steps(first, 10_000)
    before = first.save()
    assert before.finished
    assert before.frames.shape[1] > 0
    second = synthesizer.synthesize("And good night.", after=before)
    assert isinstance(second, Speech)
    heard = b"".join(second)
    codes = second.codes
    known = before.frames.shape[1]
    assert torch.equal(codes[:, :known], before.frames)
    assert heard == pcm(codec.decode(codes))[2 * known * codec.hop :]
    assert heard != b"".join(synthesizer.synthesize("And good night."))


def test_prosody_is_not_carried_where_that_is_not_wanted(models: dict[str, ZonosModel], codec: Codec) -> None:
    synthesizer = voice(models["published"], codec, 4, 3, carries=False)
    first = speech(synthesizer, "Good morning.")
    steps(first, 10_000)
    alone = b"".join(synthesizer.synthesize("And good night."))
    assert b"".join(synthesizer.synthesize("And good night.", after=first.save())) == alone


@pytest.mark.parametrize("text", ["", "  ", "…", "?!"])
def test_nothing_to_say_is_no_sound(models: dict[str, ZonosModel], codec: Codec, text: str) -> None:
    assert list(voice(models["published"], codec, 4, 0).synthesize(text)) == []


def test_a_text_too_long_is_told(models: dict[str, ZonosModel], codec: Codec) -> None:
    with pytest.raises(PredtuiError, match="too long for Zonos"):
        voice(models["published"], codec, 4, 0).synthesize("very " * 2000)


LONG = "If it rains, " + "the very old town of Paris is wet, and " * 24 + "the end is near."


def test_a_long_sentence_is_said_in_parts_and_resumed_in_each(models: dict[str, ZonosModel], codec: Codec) -> None:
    synthesizer = voice(models["published"], codec, 4, 2, seconds=0.15)
    assert len(phonemes(LONG, "en-us")) > LONGEST
    whole = b"".join(synthesizer.synthesize(LONG))
    assert len(whole) > len(b"".join(synthesizer.synthesize(LONG[: len(LONG) // 3])))
    state, heard = None, b""
    for point in (0, 3, 20, 30):
        spoken = synthesizer.synthesize(LONG, state)
        heard += steps(spoken, point)
        state = spoken.save()
    assert state.nbytes > 0
    rest = synthesizer.synthesize(LONG, state)
    assert heard + b"".join(rest) == whole
    after = rest.save()
    carried = b"".join(synthesizer.synthesize("Good night.", after=after))
    assert carried != b"".join(synthesizer.synthesize("Good night."))


@given(st.lists(st.sampled_from(["word", "a,", "so;", "x" * 40, "—"]), min_size=1, max_size=40), st.integers(4, 60))
def test_parts_fit_and_lose_no_word(words: list[str], longest: int) -> None:
    cut = parts(" ".join(words), lambda part: len(part) <= longest)
    assert all(0 < len(part) <= longest for part in cut)
    assert "".join(cut).replace(" ", "") == "".join(words)
    if longest >= 40:
        assert [word for part in cut for word in part.split()] == words


def test_a_cut_prefers_the_end_of_a_clause() -> None:
    cut = parts("when it rains over the hills, the town is wet", lambda part: len(part) < 40)
    assert cut == ["when it rains over the hills,", "the town is wet"]


def test_an_unknown_language_is_told(models: dict[str, ZonosModel], codec: Codec) -> None:
    with pytest.raises(PredtuiError, match="no language 'tlh'"):
        voice(models["published"], codec, 4, 0, language="tlh").synthesize("nuqneH")


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("CUDA out of memory"), MemoryError(), RuntimeError("can't allocate memory: 9 bytes")],
)
def test_memory_exhausted_in_mid_sentence_is_told(
    folder: object, codec: Codec, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    model = load_model(folder / "bare", "cpu", torch.float32)  # type: ignore[operator]
    begun = speech(voice(model, codec, 4, 0), "Good morning.")
    steps(begun, 3)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(ZonosModel, "logits", fail)
    with pytest.raises(PredtuiError, match="no memory left"):
        next(begun)


def test_a_voice_of_the_wrong_size_is_told(models: dict[str, ZonosModel], codec: Codec) -> None:
    import numpy as np

    with pytest.raises(PredtuiError, match="speaker has 7 numbers"):
        voice(models["published"], codec, 4, 0, speaker=np.zeros(7, np.float32)).synthesize("Hello.")


@pytest.mark.parametrize(
    ("before", "first_says", "first_codes"),
    [(0, EOS, [EOS, 7]), (4, EOS, [EOS, 9]), (4, 7, [7, 9])],
    ids=["the end", "the end after a sentence", "what the sentence before has said last"],
)
def test_the_first_code_is_neither_the_end_nor_a_repetition(
    models: dict[str, ZonosModel], codec: Codec, before: int, first_says: int, first_codes: list[int]
) -> None:
    """As in the published code, whose first sample knows of no codes before it."""
    prompt = voice(models["published"], codec, 3, 0)._prompt("hello", None)
    assert prompt is not None
    steps: list[Tensor] = []

    def step(columns: Tensor, _cache: object) -> Tensor:
        logits = torch.zeros(2, CODEBOOKS, EOS + 2)
        logits[..., 7], logits[..., 9] = 3.0, 2.0
        logits[:, 0, first_says if not steps else EOS] += 100.0 * (len(steps) in (0, 5))
        steps.append(columns)
        return logits

    start = replace(prompt, known=torch.full((CODEBOOKS, before), 7))
    spoken = Speech(step, codec, SamplingOptions(temperature=0.0, guidance=1.0), 3, start)
    assert sum(map(len, spoken)) > 0
    codes = torch.stack(spoken._columns, 1)[0].tolist()
    assert codes[before + 1 : before + 3] == first_codes
    assert codes[before + 6] == EOS
