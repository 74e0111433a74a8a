"""What of a transcription is believed."""

import pytest

from predtui.asr.agreement import Word
from predtui.asr.whisperflow.guards import believed
from predtui.asr.whisperflow.search import Effort
from predtui.asr.whisperflow.transcription import TimedWord, Transcription


def heard(text: str, pace: float = 0.3, no_speech: float = 0.0, logprob: float = -0.1, compression: float = 1.0):
    words = tuple(
        TimedWord(Word(word, pace * place, pace * (place + 1)), (place,)) for place, word in enumerate(text.split())
    )
    return Transcription(words, no_speech, logprob, compression, Effort())


def test_speech_is_believed_as_it_is() -> None:
    said = heard("what is the capital of france")
    assert believed(said) == said
    unsure = heard("what", no_speech=0.9)
    assert believed(unsure) == unsure, "sure of its words, whatever it says of silence"


@pytest.mark.parametrize(
    "invented",
    [heard("you", no_speech=0.9, logprob=-2.0), heard("a b c", compression=3.0), heard("MUSIC")],
    ids=["over silence", "a loop", "a caption"],
)
def test_inventions_are_not(invented: Transcription) -> None:
    left = believed(invented)
    assert left.words == ()
    assert (left.no_speech, left.mean_logprob, left.effort) == (
        invented.no_speech, invented.mean_logprob, invented.effort,
    )  # fmt: skip


def test_a_loop_that_times_resolve_is_no_reason_to_doubt_the_rest() -> None:
    words = heard("a b c a b c", compression=3.0).words
    squeezed = tuple(
        TimedWord(Word(one.word.text, 1.2, 1.2 + place / 100), one.tokens) for place, one in enumerate(words[3:])
    )
    looped = Transcription((*words[:3], *squeezed), 0.0, -0.1, 3.0, Effort())
    assert [one.word.text for one in believed(looped).words] == ["a", "b", "c"]
