"""The contract of decoders: statistics, names, and the autoregressive one."""

from __future__ import annotations

import pytest

from predtui.decoding.autoregressive import generate
from predtui.decoding.base import DecodingStatistics
from predtui.decoding.decoders import Parts, make_decoder
from predtui.decoding.drafters import DrafterParts, make_drafter
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.load import load


def test_autoregressive_is_generate_with_its_figures() -> None:
    loaded = load("3", engine="scripted")
    decoder = make_decoder("ar", Parts(loaded, Greedy()))
    tokens = list(decoder.generate([5, 9], 20, loaded.tokenizer.is_end, guess=[7]))
    assert tokens == list(generate(loaded.model, [5, 9], Greedy(), 20, loaded.tokenizer.is_end))
    assert decoder.statistics == DecodingStatistics(tokens=len(tokens), forwards=len(tokens))
    decoder.close()


def test_rates_of_statistics() -> None:
    statistics = DecodingStatistics()
    assert (statistics.acceptance_rate, statistics.tokens_per_forward) == (0.0, 0.0)
    statistics.count(proposed=4, accepted=3, tokens=4)
    statistics.count(proposed=2, accepted=0, tokens=1)
    assert (statistics.acceptance_rate, statistics.tokens_per_forward) == (0.5, 2.5)
    assert statistics.last == (2, 0)


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    loaded = load("0", engine="scripted")
    with pytest.raises(PredtuiError, match="warp") as decoder:
        make_decoder("warp", Parts(loaded, Greedy()))
    with pytest.raises(PredtuiError, match="crystal ball") as drafter:
        make_drafter("crystal ball", DrafterParts(loaded, Greedy()))
    assert "ar" in decoder.value.remedy
    assert "lookup" in drafter.value.remedy
