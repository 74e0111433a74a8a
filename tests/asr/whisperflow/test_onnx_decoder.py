"""The decoder in 8 bits computes what the one in numpy does, but for what 8 bits cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")


from predtui.asr.whisperflow import ct2_weights, onnx_decoder
from predtui.asr.whisperflow.decoder import Cache, NumpyDecoder
from predtui.asr.whisperflow.decoding import PlainDecoding, PrunedDecoding
from predtui.asr.whisperflow.model import WhisperModel
from predtui.asr.whisperflow.onnx_decoder import OnnxDecoder

tokens = st.lists(st.integers(0, 303), min_size=1, max_size=12)


@pytest.fixture(scope="module", params=[True, False], ids=["signed", "unsigned"])
def quantised(folder: Path, request: pytest.FixtureRequest) -> OnnxDecoder:
    with pytest.MonkeyPatch.context() as patch:
        if not request.param:
            patch.setattr(onnx_decoder, "_adds_up", lambda threads: False)
        return OnnxDecoder(ct2_weights.read(folder, "decoder/"))


def near(one: np.ndarray, other: np.ndarray, share: float = 0.15) -> bool:
    """Closer by far than 0.6, which other sounds bring."""
    return bool(np.linalg.norm(one - other) <= share * np.linalg.norm(other))


@given(text=tokens, seed=st.integers(0, 99), positions=st.integers(1, 60))
@settings(max_examples=30, deadline=None)
def test_it_computes_what_numpy_does(
    decoder: NumpyDecoder, quantised: OnnxDecoder, text: list[int], seed: int, positions: int
) -> None:
    states = np.random.default_rng(seed).standard_normal((positions, 32)).astype(np.float32)
    expected, found = decoder.cross_attention(states), quantised.cross_attention(states)
    for one, other in zip((*found.keys, *found.values), (*expected.keys, *expected.values), strict=True):
        assert one.shape == other.shape
        assert near(one, other)
    ids = np.array([[296, 303, *text]])
    wanted, got = decoder.forward(ids, expected, Cache()), quantised.forward(ids, expected, Cache())
    assert got.logits.shape == wanted.logits.shape
    assert near(got.logits, wanted.logits)
    assert got.attention.shape == wanted.attention.shape
    assert np.abs(got.attention - wanted.attention).sum(-1).mean() / 2 < 0.2  # other sounds: 0.4 and more
    assert quantised.context == decoder.context


@given(text=tokens, seed=st.integers(0, 99), beams=st.integers(1, 5), last=st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_tokens_after_others_are_as_if_evaluated_with_them(
    quantised: OnnxDecoder, text: list[int], seed: int, beams: int, last: int
) -> None:
    memory = quantised.cross_attention(np.random.default_rng(seed).standard_normal((40, 32)).astype(np.float32))
    head, tail = np.array([[296, 303]]), np.array([text])
    whole = quantised.forward(np.concatenate([head, tail], axis=1), memory, Cache())
    cache = quantised.forward(head, memory, Cache(), last=1).cache
    rows = min(last, len(text))
    step = quantised.forward(np.repeat(tail, beams, axis=0), memory, cache.take([0] * beams), last=rows)
    assert step.logits.shape == (beams, rows, whole.logits.shape[2])
    assert step.cache.length == whole.cache.length == 2 + len(text)
    if rows:
        assert near(step.logits[-1], whole.logits[0, -rows:], 0.4)


def test_what_does_not_fit_is_told(quantised: OnnxDecoder) -> None:
    memory = quantised.cross_attention(np.zeros((40, 32), np.float32))
    with pytest.raises(ValueError, match="do not fit"):
        quantised.forward(np.zeros((1, quantised.context + 1), np.int64), memory, Cache())


@pytest.mark.parametrize("on_cpu", [True, False])
def test_large_decoders_are_in_8_bits_on_a_cpu(folder: Path, monkeypatch: pytest.MonkeyPatch, on_cpu: bool) -> None:
    monkeypatch.setattr("predtui.asr.whisperflow.model.CACHED_WEIGHTS", 0)
    large = WhisperModel(folder)
    assert large.large
    if on_cpu:
        assert isinstance(large._decoding, PrunedDecoding)
        assert isinstance(large._decoding._decoder, OnnxDecoder)
    else:
        large._on_cpu = False
        large._decoding = large._make_decoding(folder, {}, 1)
        assert isinstance(large._decoding, PlainDecoding)
    encoded = large.encode(np.random.default_rng(0).standard_normal(16_000).astype(np.float32), np.zeros(0, np.float32))
    written = large.decode(encoded, "", ())
    assert large.decode(encoded, "", tuple(token for one in written.words for token in one.tokens)) is not None
