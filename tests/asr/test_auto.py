"""Two recognisers, one utterance: which is believed, and that no stable word is ever taken back."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.asr.auto import DECIDED_SECONDS, DOUBT, LATEST_SECONDS, SURE, AutoRecognizer
from predtui.asr.base import Hypothesis, Measured
from predtui.state.events import Work

FRAME = bytes(640)
SECONDS = 0.02


class Scripted:
    """Hears its words one a frame, the last two of them tentative, as sure as the frame's number says."""

    rate = 16_000
    keeps_up = True

    def __init__(self, name: str, sureness: list[float | None]) -> None:
        self._name, self._sureness = name, sureness
        self.start()

    def start(self) -> None:
        self.frames, self.finished = 0, False
        self.log_probability = self._sureness[0]

    def feed(self, pcm: bytes, voiced: bool) -> Hypothesis | None:
        self.frames += voiced
        self.log_probability = self._sureness[min(self.frames, len(self._sureness) - 1)]
        words = [f"{self._name}{index}" for index in range(self.frames)]
        return Hypothesis(" ".join(words[:-2]), " ".join(words[-2:])) if voiced else None

    def sureness(self) -> float | None:
        return self.log_probability

    def finish(self) -> Hypothesis:
        self.finished = True
        return Hypothesis(" ".join(f"{self._name}{index}" for index in range(self.frames)), unfinished=False)


def said(sureness: list[float | None], frames: int) -> tuple[list[Hypothesis], Hypothesis]:
    recognizer = AutoRecognizer(Scripted("s", sureness), Scripted("g", [None]))
    recognizer.start()
    heard = [recognizer.feed(FRAME, True) for _ in range(frames)]
    return [one for one in heard if one], recognizer.finish()


@given(st.lists(st.one_of(st.none(), st.floats(-2, 0)), min_size=1, max_size=120), st.integers(1, 120))
def test_stable_words_stay_and_come_from_one_recogniser(sureness: list[float | None], frames: int) -> None:
    hypotheses, final = said(sureness, frames)
    for before, after in pairwise([*hypotheses, final]):
        assert after.stable.startswith(before.stable)
    assert len({word[0] for word in final.stable.split()}) == 1
    for one in hypotheses[: int(DECIDED_SECONDS / SECONDS) - 1]:
        assert not one.stable
        assert len({word[0] for word in one.tentative.split()}) == 1


@pytest.mark.parametrize("frames", [10, 200])
@pytest.mark.parametrize(("sureness", "name"), [(SURE + 0.01, "s"), (SURE - 0.01, "g"), (None, "g")])
def test_the_special_one_is_believed_where_it_is_sure(frames: int, sureness: float | None, name: str) -> None:
    _, final = said([sureness], frames)
    assert final.stable.split() == [f"{name}{index}" for index in range(frames)]


def test_who_is_not_chosen_hears_no_more() -> None:
    special, general = Scripted("s", [0.0]), Scripted("g", [None])
    recognizer = AutoRecognizer(special, general)
    recognizer.start()
    for _ in range(200):
        recognizer.feed(FRAME, True)
    recognizer.finish()
    assert general.frames == round(DECIDED_SECONDS / SECONDS)
    assert not general.finished


def test_two_rates_are_refused() -> None:
    other = Scripted("g", [None])
    other.rate = 8000
    with pytest.raises(ValueError, match="8000 Hz"):
        AutoRecognizer(Scripted("s", [0.0]), other)


def test_the_special_one_s_rounds_are_told() -> None:
    class Busy(Scripted):
        def worked(self) -> list[Work]:
            return [Work(stage="encode", start=1.0, end=2.0)]

        def summary(self) -> str:
            return ""

    recognizer = AutoRecognizer(Busy("s", [0.0]), Scripted("g", [None]))
    assert isinstance(recognizer, Measured)
    assert recognizer.worked() == [Work(stage="encode", start=1.0, end=2.0)]
    assert AutoRecognizer(Scripted("s", [0.0]), Scripted("g", [None])).worked() == []


@pytest.mark.parametrize(("sureness", "name"), [(SURE + 0.01, "s"), (SURE - 0.01, "g"), (None, "g")])
def test_one_that_does_not_keep_up_is_left_unless_it_is_known_to_be_right(sureness: float | None, name: str) -> None:
    special, general = Scripted("s", [sureness]), Scripted("g", [None])
    special.keeps_up = False
    recognizer = AutoRecognizer(special, general)
    for _ in range(150):
        recognizer.feed(FRAME, True)
    assert recognizer.finish().stable.split() == [f"{name}{index}" for index in range(150)]
    assert special.finished == (name == "s")
    assert ("lighter" in recognizer.summary()) == (name == "g")
    assert special.frames == (150 if name == "s" else round(DECIDED_SECONDS / SECONDS))


@given(
    true=st.floats(-2, 0),
    noise=st.lists(st.floats(-DOUBT, DOUBT), min_size=1, max_size=50),
    frames=st.integers(1, 300),
)
def test_whom_to_believe_depends_on_the_sound_and_not_on_the_rounds_before(
    true: float, noise: list[float], frames: int
) -> None:
    """The last round's probability differs with the machine's load, by less than ``DOUBT``."""

    class Busy(Scripted):
        def sureness(self) -> float:
            return true

    def chosen(history: list[float]) -> str:
        recognizer = AutoRecognizer(Busy("s", [true + one * 0.99 for one in history]), Scripted("g", [None]))
        for _ in range(frames):
            recognizer.feed(FRAME, True)
        return recognizer.finish().stable

    assert chosen(noise) == chosen([0.0])


def test_in_doubt_another_look_is_taken_and_never_after_the_last() -> None:
    looks: list[float] = []

    class Doubtful(Scripted):
        def sureness(self) -> float:
            looks.append(round(self.frames * SECONDS, 2))
            return SURE - 0.5 * DOUBT

    special = Doubtful("s", [SURE + 0.5 * DOUBT])
    recognizer = AutoRecognizer(special, Scripted("g", [None]))
    for _ in range(400):
        recognizer.feed(FRAME, True)
    assert looks == [2.0, 3.0, 4.0]
    assert recognizer.finish().stable.startswith("g")
    assert special.frames * SECONDS == LATEST_SECONDS
