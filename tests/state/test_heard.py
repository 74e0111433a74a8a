"""The sound of a recording: where in time it is, and what of it is left from any moment on."""

from __future__ import annotations

import os
from pathlib import Path

from predtui.state import events as ev
from predtui.state.heard import Heard
from predtui.state.session import read
from predtui.state.tape import Tape
from tests.state.test_session import record

RATE = 1000


def pcm(first: int, count: int) -> bytes:
    return b"".join(sample.to_bytes(2, "little") for sample in range(first, first + count))


SPOKEN: list[ev.Event] = [
    ev.TurnStarted(turn=1, time=5.0, source="voice"),
    ev.AudioFrame(turn=1, time=5.1, pcm=pcm(0, 400), rate=RATE),  # heard before the key
    ev.AudioFrame(turn=1, time=5.6, pcm=pcm(400, 500), rate=RATE, position=400),
    ev.SpeechChunk(turn=1, time=7.0, pcm=pcm(0, 1000), rate=RATE),
    ev.Playback(turn=1, time=7.2, state="started"),
    ev.SpeechChunk(turn=1, time=7.3, pcm=pcm(1000, 1000), rate=RATE, index=1),
    ev.Playback(turn=1, time=8.2, state="playing"),
]
SILENCED = [*SPOKEN, ev.Playback(turn=1, time=8.7, state="stopped"), ev.Interrupt(turn=1, time=8.8)]


def heard(events: list[ev.Event]) -> Heard:
    tape, sound = Tape(), Heard()
    for event in events:
        sound.add(event, tape.add(event))
    return sound


def test_each_stretch_is_where_it_was_heard() -> None:
    sound = heard(SPOKEN)
    said, reply = sound.at(0.0), sound.at(2.2)
    assert said
    assert reply
    assert round(said.begin, 6) == -0.3, "its end is when the last of it had been heard"
    assert said.since(0.0) == pcm(300, 600)
    assert round(reply.begin, 6) == 2.2, "a reply is heard once it is played"
    assert reply.since(2.2) == pcm(0, 2000)
    assert reply.since(3.7) == pcm(1500, 500)
    assert sound.at(1.0) is None
    assert sound.at(5.0) is None


def test_what_was_silenced_stays_silent() -> None:
    reply = heard(SILENCED).at(3.0)
    assert reply
    assert reply.since(3.0) == pcm(800, 700)


def test_sound_stays_in_its_file_until_it_is_wanted(tmp_path: Path) -> None:
    record(tmp_path / "s", SPOKEN)
    sound = heard(list(read(tmp_path / "s", lazily=True)))
    reply = sound.at(2.2)
    assert reply
    assert reply.since(2.2) == pcm(0, 2000)
    os.truncate(tmp_path / "s" / f"reply-1-{RATE}.wav", 50)
    assert reply.since(2.2) == pcm(0, 3) + bytes(2 * 1997), "a file that breaks later is silence"
    (tmp_path / "s" / f"reply-1-{RATE}.wav").unlink()
    assert reply.since(2.2) == bytes(4000)
