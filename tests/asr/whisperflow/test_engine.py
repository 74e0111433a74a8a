"""WhisperFlow's streaming core and engine: laws over scripted models, without any weights."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.asr.agreement import Word
from predtui.asr.whisperflow.engine import FlowRecognizer
from predtui.asr.whisperflow.rounds import FlowOptions
from predtui.asr.whisperflow.search import Effort
from predtui.asr.whisperflow.stream import RATE, Stream
from predtui.asr.whisperflow.transcription import TimedWord, Transcription

FRAME = 320
TOKENS = {f"w{index}": index for index in range(4000)}


@dataclass(frozen=True)
class Sound:
    """Stands for an Encoded: the samples themselves."""

    samples: np.ndarray
    gflops: float = 1.0


def heard(words: list[Word]) -> Transcription:
    spoken = tuple(TimedWord(word, (TOKENS.get(word.text, 0),)) for word in words)
    return Transcription(spoken, 0.0, -0.1, 1.0, Effort())


@dataclass(frozen=True)
class Done:
    """Stands for a DecodeJob: all of it is decoded."""

    words: Transcription

    def step(self) -> bool:
        return True

    def advance(self, tokens) -> None:
        pass

    def result(self) -> Transcription:
        return self.words


class Script:
    """Writes what it is told, whatever it hears."""

    seconds = 4.0

    def __init__(self, rounds: list[list[str]]) -> None:
        self._rounds = iter(rounds)

    def encode(self, samples, tail, pad_to=0) -> Sound:
        return Sound(samples)

    def decode_job(self, encoded, prompt, reference, beam=5, pruning="forward") -> Done:
        texts = next(self._rounds, [])
        seconds = len(encoded.samples) / RATE
        width = seconds / max(1, len(texts))
        return Done(heard([Word(text, index * width, (index + 1) * width) for index, text in enumerate(texts)]))


class Perfect:
    """Hears words of 0.3 s whose number is their level: what ``speech`` makes."""

    seconds = 30.0

    def encode(self, samples, tail, pad_to=0) -> Sound:
        return Sound(samples)

    def decode_job(self, encoded, prompt, reference, beam=5, pruning="forward") -> Done:
        levels = np.rint(encoded.samples * 32768).astype(int)
        changes = [0, *(np.flatnonzero(np.diff(levels)) + 1).tolist(), len(levels)]
        words = [
            Word(f"w{levels[begin]}", begin / RATE, end / RATE)
            for begin, end in pairwise(changes)
            if end > begin and levels[begin] > 0 and end - begin > 0.5 * 0.3 * RATE
        ]
        return Done(heard(words))


def speech(count: int) -> bytes:
    levels = np.repeat(np.arange(1, count + 1), int(0.3 * RATE))
    return levels.astype("<i2").tobytes()


def frames(pcm: bytes) -> list[bytes]:
    return [pcm[start : start + 2 * FRAME] for start in range(0, len(pcm), 2 * FRAME)]


texts = st.lists(st.sampled_from(["a", "b", "c", "d."]), max_size=8)


@settings(max_examples=60, deadline=None)
@given(
    rounds=st.lists(texts, min_size=1, max_size=40),
    voiced=st.lists(st.booleans(), min_size=20, max_size=60),
    agreeing=st.integers(1, 4),
    pipelined=st.booleans(),
)
def test_a_stable_word_is_never_unsaid(rounds, voiced, agreeing, pipelined) -> None:
    options = FlowOptions(step=0.04, buffer=0.5, rounds=agreeing, pipelined=pipelined)
    recognizer = FlowRecognizer(Script(rounds), options, now=lambda: 0.0)
    stable: list[str] = []
    for speaking in voiced:
        hypothesis = recognizer.feed(bytes(2 * FRAME * 4), speaking)
        if hypothesis is not None:
            words = hypothesis.stable.split()
            assert words[: len(stable)] == stable
            stable = words
    final = recognizer.finish()
    assert final.stable.split()[: len(stable)] == stable
    assert final.tentative == ""
    assert not final.unfinished


@settings(max_examples=40, deadline=None)
@given(rounds=st.lists(texts, min_size=1, max_size=40), voiced=st.lists(st.booleans(), min_size=20, max_size=60))
def test_a_replay_equals_the_live_run(rounds, voiced) -> None:
    def run() -> list:
        recognizer = FlowRecognizer(Script(rounds), FlowOptions(step=0.04), now=lambda: 0.0)
        return [*(recognizer.feed(bytes(2 * FRAME * 4), speaking) for speaking in voiced), recognizer.finish()]

    assert run() == run()


@pytest.mark.parametrize("pipelined", [False, True])
@pytest.mark.parametrize("buffer", [1.0, 6.0, 15.0])
def test_a_perfect_model_loses_no_word_to_trimming(buffer: float, pipelined: bool) -> None:
    options = FlowOptions(step=0.1, buffer=buffer, pipelined=pipelined)
    recognizer = FlowRecognizer(Perfect(), options, now=lambda: 0.0)
    for frame in frames(speech(60)):
        recognizer.feed(frame, True)
    assert recognizer.finish().stable.split() == [f"w{index}" for index in range(1, 61)]
    assert recognizer.tally.rounds > 1


def test_ten_minutes_keep_the_buffer_short_and_every_word() -> None:
    recognizer = FlowRecognizer(Perfect(), FlowOptions(step=0.5, buffer=5.0), now=lambda: 0.0)
    longest = 0
    for frame in frames(speech(2000)):
        recognizer.feed(frame, True)
        longest = max(longest, len(recognizer._stream.buffer.samples))
    said = recognizer.finish().stable.split()
    expected = [f"w{index}" for index in range(1, 2001)]
    assert longest < 8 * RATE
    assert len(set(expected) - set(said)) <= 2  # a segment of five minutes may end inside a word


@settings(max_examples=40, deadline=None)
@given(buffer=st.floats(1.0, 6.0), count=st.integers(10, 60))
def test_a_cut_leaves_the_words_before_the_newest(buffer: float, count: int) -> None:
    stream, sound = Stream(buffer, 60.0), np.frombuffer(speech(count), "<i2").astype(np.float32) / 32768
    for begin in range(0, len(sound), RATE // 10):
        stream.hear(sound[begin : begin + RATE // 10])
        before = stream.snapshot()
        stream.take(before, Perfect().decode_job(Sound(before.samples), "", ()).result())
        after = stream.snapshot()
        assert len(after.samples) <= buffer * RATE + RATE // 10
        if after.start > before.start:
            assert len(after.samples) >= (buffer / 2 - 0.3 - 0.1) * RATE
    assert [word.text for word in stream.words.stable] == [f"w{n + 1}" for n in range(len(stream.words.stable))]


@settings(max_examples=30, deadline=None)
@given(seconds=st.floats(0.1, 60.0), hardest=st.floats(1.0, 10.0))
def test_the_buffer_is_bounded_whatever_is_heard(seconds: float, hardest: float) -> None:
    stream = Stream(hardest / 2, hardest)
    for _ in range(int(seconds / 0.1)):
        stream.hear(np.zeros(RATE // 10, np.float32))
        assert len(stream.snapshot().samples) <= (hardest + 0.1) * RATE
    assert stream.heard == pytest.approx(int(seconds / 0.1) * 0.1)


@pytest.mark.parametrize("pipelined", [False, True])
def test_a_pause_before_the_end_saves_the_last_round(pipelined: bool) -> None:
    recognizer = FlowRecognizer(Script([["w1"], ["w1", "w2"], ["wrong"]]), FlowOptions(step=0.2, pipelined=pipelined))
    for voiced in (*[True] * 10, *[True] * 3, *[False] * 3):
        recognizer.feed(bytes(2 * FRAME), voiced)
    assert recognizer.finish().stable == "w1 w2"
    assert recognizer.tally.rounds == 2


def test_what_a_pause_makes_known_is_what_a_round_after_the_end_would_hear() -> None:
    """The words of a round that is heard in another window than the last are never taken for the last one's; and a
    long buffer is not cut until more is said."""

    class Windows(Script):
        def encode(self, samples, tail, pad_to=0) -> Sound:
            padded.append(pad_to)
            return Sound(samples)

    padded: list[int] = []
    options = FlowOptions(step=0.2, buffer=0.4, pad_last_to=1000)
    recognizer = FlowRecognizer(Windows([[f"w{n}" for n in range(k)] for k in range(1, 9)]), options, lambda: 0.0)
    for _ in range(5):
        recognizer.feed(bytes(22 * FRAME), True)
    assert padded == [0] * 5, "the newest of them was over all of the sound"
    for _ in range(3):
        recognizer.feed(b"", False)
    assert padded == [0] * 5 + [1000]
    recognizer.feed(bytes(2 * FRAME), True)
    recognizer.feed(b"", False)
    recognizer.finish()
    assert padded == [0] * 5 + [1000] * 2


@pytest.mark.parametrize("more", [False, True])
def test_a_round_is_given_up_for_a_pause_and_for_nothing_else(more: bool) -> None:
    class Slow(Done):
        def step(self) -> bool:
            steps.append(came)
            return False if came else super().step()

    class Slowly(Script):
        def decode_job(self, encoded, prompt, reference, beam=5, pruning="forward") -> Done:
            return Slow(super().decode_job(encoded, prompt, reference, beam, pruning).words)

    came, steps = False, list[bool]()
    recognizer = FlowRecognizer(Slowly([["w1"], ["lost"], ["w1", "w2"], ["w1", "w2", "w3"]]), FlowOptions(step=0.2))
    asked = 0

    def overtaken() -> bool:
        nonlocal came, asked
        asked += 1
        came = came or asked == comes
        return came

    comes, recognizer.overtaken = -1, overtaken
    assert recognizer.feed(bytes(22 * FRAME), True) is not None
    asked, comes = 0, 2  # once before the round, and once within it
    assert recognizer.feed(bytes(22 * FRAME), True) is None
    if more:
        assert recognizer.feed(bytes(22 * FRAME), True) is None, "nothing is begun while a pause waits"
    assert recognizer.tally.rounds == 1
    pause = recognizer.feed(b"", False)
    assert pause is not None
    assert f"{pause.stable} {pause.tentative}" == "w1 w2", "the pause has its round"
    came = False
    recognizer.feed(bytes(22 * FRAME), True)
    assert recognizer.finish().stable == "w1 w2 w3"


@pytest.mark.parametrize("pause", [False, True])
def test_the_last_round_can_be_had_again_as_it_was(pause: bool) -> None:
    class Watched(Script):
        def decode_job(self, encoded, prompt, reference, beam=5, pruning="forward") -> Done:
            references.append(reference)
            return super().decode_job(encoded, prompt, reference, beam, pruning)

    references: list[tuple[int, ...]] = []
    recognizer = FlowRecognizer(Watched([["w1"], ["w1", "w2"], ["w1", "w2"], ["other"]]), FlowOptions(step=0.2))
    assert not recognizer.again()
    for voiced in (*[True] * 10, *[True] * 3, *[False] * (2 * pause)):
        recognizer.feed(bytes(2 * FRAME), voiced)
    assert recognizer.finish().stable == "w1 w2"
    rounds = recognizer.tally.rounds
    assert recognizer.again()
    assert references[-1] == references[-2]
    assert recognizer.tally.rounds == rounds
    assert recognizer.finish().stable == "w1 w2"


def test_samples_that_are_no_numbers_are_silence() -> None:
    stream = Stream(1.0, 2.0)
    stream.hear(np.array([np.nan, np.inf, -np.inf, 0.5], np.float32))
    assert stream.snapshot().samples.tolist() == [0.0, 0.0, 0.0, 0.5]


def test_nothing_heard_is_nothing_said() -> None:
    recognizer = FlowRecognizer(Perfect(), FlowOptions())
    assert recognizer.feed(bytes(640), False) is None
    assert recognizer.finish().stable == ""


def test_inventions_are_dropped() -> None:
    class Inventing(Perfect):
        def decode_job(self, encoded, prompt, reference, beam=5, pruning="forward") -> Done:
            spoken = super().decode_job(encoded, prompt, reference).words.words
            return Done(Transcription(spoken, 0.9, -2.0, 1.0, Effort()))

    recognizer = FlowRecognizer(Inventing(), FlowOptions(step=0.1), now=lambda: 0.0)
    for frame in frames(speech(10)):
        assert recognizer.feed(frame, True) is None
    assert recognizer.finish().stable == ""


@pytest.mark.parametrize("pipelined", [False, True])
def test_every_round_tells_when_it_was_encoded_and_decoded(pipelined: bool) -> None:
    times = iter(range(10_000))
    recognizer = FlowRecognizer(Perfect(), FlowOptions(step=0.2, pipelined=pipelined), now=lambda: float(next(times)))
    for frame in frames(speech(10)):
        recognizer.feed(frame, True)
    recognizer.finish()
    work = recognizer.worked()
    assert not recognizer.worked()
    assert [sum(one.stage == worker for one in work) for worker in ("encode", "write")] == [recognizer.tally.rounds] * 2
    for worker in ("encode", "write"):
        moments = [moment for one in work if one.stage == worker for moment in (one.start, one.end)]
        assert moments == sorted(moments)


def test_a_summary_tells_delay_and_speed() -> None:
    times = iter(range(10_000))
    recognizer = FlowRecognizer(Perfect(), FlowOptions(step=0.2), now=lambda: next(times) / 1000)
    assert recognizer.summary() == ""
    for frame in frames(speech(10)):
        recognizer.feed(frame, True)
    recognizer.finish()
    assert recognizer.summary().startswith("a word after ")
    assert recognizer.summary().endswith(" of real time")
