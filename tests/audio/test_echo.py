"""The reply's echo: where the loudspeaker is in it, and what is left once it is cancelled."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.audio.echo import Canceller, Coupling, FarEnd, OwnVoice, Pace, WebRtc, ramped, residue
from predtui.audio.overhear import Overhearing
from predtui.audio.resample import FRAME, FRAME_BYTES, RATE, to_float, to_pcm
from predtui.audio.vad import Silero, VoiceActivity
from predtui.runtime.barge_in import REAL_S
from predtui.state import events as ev
from tests.audio.sounds import Samples, frames, noise, speech

REPLY = "The capital of France is Paris. It has been a centre of art for hundreds of years, and many people live there."
needs_canceller = pytest.mark.skipif(
    importlib.util.find_spec("livekit") is None, reason="there is no echo canceller for this machine"
)


def counting(seconds: float) -> bytes:
    """Samples that tell where they are."""
    return (np.arange(round(seconds * RATE)) % 30000).astype("<i2").tobytes()


def playing(far: FarEnd, reply: bytes, began: float = 10.0) -> None:
    far.chunk(ev.SpeechChunk(turn=1, pcm=reply, rate=RATE))
    far.playback(ev.Playback(turn=1, time=began, state="started"))


class TestFarEnd:
    @given(st.floats(9.0, 12.0), st.lists(st.integers(1, 9000), min_size=1, max_size=5))
    def test_it_is_where_the_loudspeaker_is(self, time: float, cuts: list[int]) -> None:
        """However the reply was cut into chunks; before and after it, it is silent."""
        reply, far = counting(1.0), FarEnd()
        at = 0
        for cut in [*cuts, len(reply)]:
            far.chunk(ev.SpeechChunk(turn=1, pcm=reply[at : at + 2 * cut], rate=RATE))
            at = min(len(reply), at + 2 * cut)
        far.playback(ev.Playback(turn=1, time=10.0, state="started"))
        start = round((time - 10.0) * RATE)
        around = bytes(2 * RATE) + reply + bytes(4 * RATE)
        assert far.at(time) == around[2 * (start + RATE) : 2 * (start + RATE) + FRAME_BYTES]

    def test_a_reply_that_stands_still_is_silent_and_goes_on_where_it_stood(self) -> None:
        far, reply = FarEnd(), counting(2.0)
        playing(far, reply)
        far.at(10.4)
        far.duck("held")
        far.playback(ev.Playback(turn=1, time=10.6, state="playing", seconds=0.5))
        assert far.at(10.7) == bytes(FRAME_BYTES)
        far.duck("full")
        far.playback(ev.Playback(turn=1, time=12.0, state="playing", seconds=0.5))
        far.at(12.0)
        assert far.at(12.02) == reply[2 * round(0.52 * RATE) :][:FRAME_BYTES]

    def test_small_steps_in_what_is_told_move_nothing(self) -> None:
        far, reply = FarEnd(), counting(2.0)
        playing(far, reply)
        far.playback(ev.Playback(turn=1, time=10.5, state="playing", seconds=0.47))
        assert far.at(10.6) == reply[2 * round(0.6 * RATE) :][:FRAME_BYTES]

    def test_another_turn_is_another_reply(self) -> None:
        far = FarEnd()
        playing(far, counting(2.0))
        far.duck("soft")
        far.chunk(ev.SpeechChunk(turn=2, pcm=counting(1.0)[2000:], rate=RATE))
        far.playback(ev.Playback(turn=2, time=20.0, state="started"))
        far.at(20.0)
        assert far.at(20.02) == counting(1.0)[2000 + 2 * FRAME :][:FRAME_BYTES]

    def test_the_room_goes_quiet_after_it(self) -> None:
        far = FarEnd()
        assert not far.echoes(10.0)
        playing(far, counting(1.0))
        far.at(10.5)
        assert far.echoes(10.5)
        assert far.settling(10.5)
        assert not far.settling(10.9)
        far.playback(ev.Playback(turn=1, time=10.6, state="finished"))
        assert far.echoes(10.8)
        assert not far.echoes(11.2)


@given(st.lists(st.floats(0.0, 0.5), min_size=1, max_size=100))
def test_frames_that_are_read_late_were_made_evenly(late: list[float]) -> None:
    pace = Pace()
    times = [pace(100.0 + 0.02 * (index + 1) + delay) for index, delay in enumerate(late)]
    assert times[-1] == pytest.approx(100.0 + 0.02 * (len(late) - 1) + min(late))


@given(st.floats(0.0, 3.0))
def test_sound_that_is_lost_moves_what_follows(lost: float) -> None:
    pace = Pace()
    for index in range(150):
        pace(100.0 + 0.02 * (index + 1))
    times = [pace(100.0 + 0.02 * (index + 1) + lost) for index in range(150, 300)]
    assert times[-1] == pytest.approx(100.0 + 0.02 * 299 + lost)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(1, 800))
def test_levels_change_without_a_click(before: float, after: float, count: int) -> None:
    loud = np.full(count, 10000, dtype="<i2").tobytes()
    changed = np.frombuffer(ramped(loud, before, after), "<i2").astype(int)
    assert abs(changed[0] - 10000 * before) <= 1
    if count > 1:
        assert abs(changed[-1] - 10000 * after) <= 1
        assert np.abs(np.diff(changed)).max() <= 10000 * abs(after - before) / (count - 1) + 1


def coupled(frames_heard: Sequence[tuple[float, float]], coupling: Coupling | None = None) -> Coupling:
    """``frames_heard``: how loud the microphone is, and what was left, for a loudspeaker at 0.1."""
    coupling, far = coupling or Coupling(), to_pcm(noise(0.02, 0.1))
    for heard, left in frames_heard:
        coupling.hear(to_pcm(noise(0.02, heard)), far, to_pcm(noise(0.02, left)))
    return coupling


def test_headphones_have_no_echo_and_a_person_in_between_is_none() -> None:
    coupling = coupled([(0.0, 0.0)] * 60)
    assert coupling.none
    assert coupled([(0.1, 0.1)] * 20, coupling).none
    assert not coupled([(0.1, 0.1)] * 80, coupling).none


def test_a_person_is_louder_than_the_echo() -> None:
    coupling = coupled([(0.03, 0.03)] * 60)
    assert not coupling.louder
    assert not coupling.none
    assert coupled([(0.1, 0.1)] * 12, coupling).louder


def test_a_canceller_is_trusted_once_it_leaves_hardly_anything() -> None:
    coupling = coupled([(0.03, 0.02)] * 60)
    assert not coupling.cancelled
    assert coupled([(0.03, 0.001)] * 90, coupling).cancelled
    assert coupled([(0.1, 0.1)] * 9, coupling).cancelled, "a person who begins to speak changes nothing"


def test_what_is_hardly_left_is_echo_still() -> None:
    loud, soft = to_pcm(noise(0.02, 0.3)), to_pcm(noise(0.02, 0.01))
    assert residue(loud, soft)
    assert not residue(loud, loud)
    assert not residue(soft, soft)


def room(sound: Samples, decibels: float, delay: float, seed: int = 0) -> Samples:
    """``sound`` as it comes back from a small room's walls."""
    rng, decay = np.random.default_rng(seed), np.arange(round(0.1 * RATE))
    walls = rng.standard_normal(len(decay)) * np.exp(-decay / (0.02 * RATE))
    walls[0] = 3.0
    echo = np.convolve(sound, np.concatenate([np.zeros(round(delay * RATE)), walls]))[: len(sound)]
    return np.asarray(echo * 10 ** (decibels / 20) * np.std(sound) / np.std(echo))


def overheard(canceller: Canceller, near: Samples, far: Samples) -> list[ev.Overheard]:
    over, told = Overhearing(VoiceActivity(Silero())), []
    for heard, played in zip(frames(to_pcm(near)), frames(to_pcm(far)), strict=True):
        cleaned = canceller.clean(heard, played)
        told += over.push(bytes(len(cleaned)) if residue(heard, cleaned) else cleaned)
    return told


def own_voice(near: Samples, far: Samples) -> float:
    """Share of the frames at which it is taken for that."""
    voice, heard = OwnVoice(), []
    for one, other in zip(frames(to_pcm(near)), frames(to_pcm(far)), strict=True):
        voice.hear(one, other)
        heard.append(voice.heard)
    return float(np.mean(heard[OwnVoice.FAR + 20 :]))


@pytest.mark.parametrize("delay", [0.02, 0.1, 0.3])
def test_an_echo_that_is_not_cancelled_is_its_own_voice_and_a_person_is_not(delay: float) -> None:
    reply = to_float(speech(REPLY, before=0.0, after=0.0)).astype(float)
    person = np.resize(to_float(speech("what is ten plus twenty please", "en-gb+f2", 0.0, 0.0)), len(reply))
    echo = room(reply, -10.0, delay)
    assert own_voice(echo, reply) > 0.8
    assert own_voice(person, reply) < 0.2
    assert own_voice(person + 0.3 * echo, reply) < 0.2


def test_nobodys_voice_is_heard_while_nothing_is_played() -> None:
    assert own_voice(noise(3.0), np.zeros(48000)) == 0.0


@needs_canceller
@pytest.mark.parametrize("delay", [0.02, 0.06, 0.15])
def test_its_own_voice_is_not_heard_and_a_persons_over_it_is(delay: float) -> None:
    """Ten dB softer than it is played, in a room with walls and some noise."""
    reply = to_float(speech(REPLY, before=0.3, after=0.3)).astype(float)
    near = room(reply, -10.0, delay) + noise(len(reply) / RATE, 0.0005)[: len(reply)]
    assert overheard(WebRtc(), near, reply) == []
    person = to_float(speech("what is ten plus twenty", "en-gb+f2", before=0.0, after=0.0)).astype(float)
    began = 3.0
    near[round(began * RATE) :][: len(person)] += person
    told = overheard(WebRtc(), near, reply)
    assert told[0].first
    assert max(event.speech for event in told) > REAL_S  # so that the reply stands still, and no longer hides them


@needs_canceller
def test_the_echo_is_thirty_decibels_softer() -> None:
    reply = to_float(speech(REPLY, before=0.3, after=0.3)).astype(float)
    near = room(reply, -10.0, 0.06)
    canceller = WebRtc()
    cleaned = b"".join(map(canceller.clean, frames(to_pcm(near)), frames(to_pcm(reply))))
    late = slice(RATE, len(reply) - RATE)
    assert np.std(to_float(cleaned)[late]) < 10 ** (-30 / 20) * np.std(near[late])
