"""Steps over a static cache are the network's own, whoever is at work in between. Capturing needs a GPU: here the work
is done again."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.tts.zonos import graphs
from predtui.tts.zonos.codec import Codec
from predtui.tts.zonos.graphs import GraphedSteps, Work
from predtui.tts.zonos.model import ZonosModel
from predtui.tts.zonos.sampling import SamplingOptions
from predtui.tts.zonos.synthesizer import Manner, ZonosSynthesizer, positions

TEXTS = ("Good morning.", "And good night!", "Why so?")
MANNER = Manner(chunk=4, seconds=0.2)


def again(work: Work) -> Work:
    """A ``Capture`` where nothing can be captured. The result stands in one tensor, as a graph's does."""
    result = work()

    def repeat() -> torch.Tensor:
        return result.copy_(work())

    return repeat


def synthesizer(model: ZonosModel, codec: Codec, capacity: int = 0) -> ZonosSynthesizer:
    step = GraphedSteps(model, capacity, again).step if capacity else None
    return ZonosSynthesizer(model, codec, MANNER, SamplingOptions(seed=3), step)


@settings(max_examples=6, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 25), st.booleans()), max_size=8), st.sampled_from([40, 60]))
def test_graphed_speech_is_plain_speech(
    models: dict[str, ZonosModel], codec: Codec, work: list[tuple[int, int, bool]], capacity: int
) -> None:
    """Sentences take turns at the static cache, are saved and dropped, and some outgrow it."""
    model = models["published"]
    plain, graphed = synthesizer(model, codec), synthesizer(model, codec, capacity)
    speeches = [graphed.synthesize(text) for text in TEXTS]
    heard = [b"" for _ in TEXTS]
    for which, count, parks in work:
        for _ in range(count):
            heard[which] += next(speeches[which], b"")
        if parks:
            speeches[which] = graphed.synthesize(TEXTS[which], speeches[which].save())
    for which, text in enumerate(TEXTS):
        assert heard[which] + b"".join(speeches[which]) == b"".join(plain.synthesize(text))


def test_longer_sentences_get_larger_graphs(
    models: dict[str, ZonosModel], codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphs, "SHORTEST", 16)
    model = models["published"]
    steps = GraphedSteps(model, positions(model, codec, MANNER), again)
    spoken = b"".join(ZonosSynthesizer(model, codec, MANNER, SamplingOptions(seed=3), steps.step).synthesize(TEXTS[0]))
    assert spoken == b"".join(synthesizer(model, codec).synthesize(TEXTS[0]))
    assert sorted(steps._graphs) == [32, 64]
