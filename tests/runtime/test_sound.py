"""Sound goes from stage to stage, not through the screen's process: bit for bit, in bounded room, with nothing left."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import RealClock
from predtui.runtime.hosts import process
from predtui.runtime.manner import Manner
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.sound import SoundStore
from predtui.state import events as ev
from predtui.state.recorder import Recorder
from predtui.state.session import read
from predtui.state.sound import Clip
from predtui.state.stage import StageSpec
from tests.cast import Actor, Pace, cast

PATIENCE_S = 30.0
FRAMES, CHUNKS = 100, 5


def noise(seed: int, length: int) -> bytes:
    return random.Random(seed).randbytes(length)


def frame(number: int) -> bytes:
    return noise(number, 640)


def chunk(number: int) -> bytes:
    return noise(1000 + number, 8192)


def digest(sounds: list[bytes]) -> str:
    return hashlib.sha256(b"".join(sounds)).hexdigest()


class Mic(Actor):
    accepts = (ev.Listen, ev.Endpoint, ev.Interrupt)

    def handle(self, event: ev.Event) -> Iterator[ev.Event]:
        if isinstance(event, ev.Listen):
            for number in range(FRAMES):
                yield ev.AudioFrame(pcm=frame(number), position=320 * number)
            yield ev.Endpoint(reason="end of file")


class Asr(Actor):
    """Its words are what it has heard."""

    accepts = (ev.TurnStarted, ev.AudioFrame, ev.Endpoint)
    heard: list[bytes]

    def handle(self, event: ev.Event) -> Iterator[ev.Event]:
        if isinstance(event, ev.TurnStarted):
            self.heard = []
        elif isinstance(event, ev.AudioFrame):
            assert type(event.pcm) is bytes
            self.heard.append(event.pcm)
        else:
            yield ev.Transcript(stable=digest(self.heard), final=True)


class Tts(Actor):
    accepts = (ev.ReplyCommitted, ev.ReplyFinished)

    def handle(self, event: ev.Event) -> Iterator[ev.Event]:
        if isinstance(event, ev.ReplyCommitted):
            for number in range(CHUNKS if event.index == 0 else 0):
                yield ev.SpeechChunk(index=event.index, pcm=chunk(number))
            yield ev.SpeechChunk(index=event.index, last=True)
        else:
            yield ev.SpeechEnd()


class Player(Actor):
    accepts = (ev.SpeechChunk, ev.SpeechEnd)

    def handle(self, event: ev.Event) -> Iterator[ev.Event]:
        if isinstance(event, ev.SpeechChunk):
            self.heard = [*getattr(self, "heard", []), bytes(event.pcm)]
        else:
            yield ev.Notice(text=f"heard:{digest(self.heard)}")
            yield ev.Playback(state="started")
            yield ev.Playback(state="finished")


mic, asr, tts, player = Mic, Asr, Tts, Player


@dataclass
class Traffic:
    """What went through the pipes of this process."""

    messages: list[bytes]

    @property
    def sound(self) -> int:
        """Bytes of PCM among it."""
        carried = [pickle.loads(message) for message in self.messages]
        events = [event for event in carried if isinstance(event, ev.AudioFrame | ev.SpeechChunk)]
        return sum(len(event.pcm) for event in events if isinstance(event.pcm, bytes))


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> Traffic:
    counted = Traffic([])

    class Counting(Connection):
        def _send_bytes(self, data: bytes) -> None:
            counted.messages.append(bytes(data))
            super()._send_bytes(data)  # type: ignore[misc]

        def _recv_bytes(self, maxsize: int | None = None) -> io.BytesIO:
            data: io.BytesIO = super()._recv_bytes(maxsize)  # type: ignore[misc]
            counted.messages.append(data.getvalue())
            return data

    def counting() -> tuple[Connection, Connection]:
        ours, theirs = Pipe()
        with ours:
            return Counting(os.dup(ours.fileno())), theirs

    monkeypatch.setattr(process, "Pipe", counting)
    return counted


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def stages() -> list[StageSpec]:
    here = [StageSpec(name, f"{__name__}:{name}", Pace()) for name in ("mic", "asr", "tts", "player")]
    return [*here, *cast(Pace(), "llm")]


@contextlib.contextmanager
def spoken_turn(
    listener: Callable[[ev.Event], None] = lambda event: None, dies: str = "", at: type[ev.Event] = ev.Event
) -> Iterator[list[ev.Event]]:
    """The events of a turn in processes, from a key to its end; stage ``dies`` is killed at the third ``at``."""
    pipeline = Pipeline(stages(), monitored=False, manner=Manner(measures=False))
    events: list[ev.Event] = []
    pipeline.subscribe(events.append)
    pipeline.subscribe(listener)

    def kill(event: ev.Event) -> None:
        if dies and isinstance(event, at) and sum(isinstance(e, at) for e in events) == 3:
            pid = pipeline.pids()[dies]
            assert pid
            os.kill(pid, signal.SIGKILL)

    pipeline.subscribe(kill)
    pipeline.start()
    try:
        wait_for(lambda: sum(s.state == "ready" for s in pipeline.state.stages.values()) == 5)
        pipeline.talk(True)
        wait_for(lambda: pipeline.state.phase == "done")
        yield events
    finally:
        pipeline.stop()


def test_no_sound_passes_the_screens_process_and_each_stage_hears_every_bit(traffic: Traffic) -> None:
    with spoken_turn() as events:
        (final,) = [e for e in events if isinstance(e, ev.Transcript) and e.final]
        assert final.text == digest([frame(n) for n in range(FRAMES)])
        assert f"heard:{digest([chunk(n) for n in range(CHUNKS)])}" in [
            e.text for e in events if isinstance(e, ev.Notice)
        ]
        told = sum(len(e.pcm) for e in events if isinstance(e, ev.AudioFrame | ev.SpeechChunk))
        assert told == FRAMES * 640 + CHUNKS * 8192
    assert traffic.sound == 0
    sounds = [frame(n)[:32] for n in range(FRAMES)] + [chunk(n)[:32] for n in range(CHUNKS)]
    assert not [sound for sound in sounds for message in traffic.messages if sound in message]


@pytest.mark.parametrize(
    ("dies", "at"),
    [("asr", ev.AudioFrame), ("tts", ev.SpeechChunk), ("player", ev.SpeechChunk)],
)
def test_a_stage_that_is_killed_hears_or_says_every_bit_all_the_same(
    dies: str, at: type[ev.Event], traffic: Traffic
) -> None:
    with spoken_turn(dies=dies, at=at) as events:
        (final,) = [e for e in events if isinstance(e, ev.Transcript) and e.final]
        assert f"heard:{digest([chunk(n) for n in range(CHUNKS)])}" in [
            e.text for e in events if isinstance(e, ev.Notice)
        ]
    assert final.text == digest([frame(n) for n in range(FRAMES)])
    assert traffic.sound == 0


def test_whoever_records_fetches_the_sound(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "session", lambda event: None)
    with spoken_turn(recorder):
        recorder.close()
    frames = [e for e in read(tmp_path / "session") if isinstance(e, ev.AudioFrame)]
    assert [e.pcm for e in frames] == [frame(n) for n in range(FRAMES)]


def test_without_room_sound_goes_through_the_pipes_and_that_is_told_once(
    traffic: Traffic, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> SoundStore:
        """Nothing can be written to these."""
        return SoundStore((os.open("/dev/full", os.O_RDWR), os.open("/dev/full", os.O_RDWR)))

    monkeypatch.setattr(process, "SoundStore", full)
    with spoken_turn() as events:
        (final,) = [e for e in events if isinstance(e, ev.Transcript) and e.final]
        assert final.text == digest([frame(n) for n in range(FRAMES)])
    assert traffic.sound == 2 * (FRAMES * 640 + CHUNKS * 8192)
    told = [e.text for e in events if isinstance(e, ev.Notice) and "No room" in e.text]
    assert len(told) == 2, "the microphone's and the synthesiser's"


# --- the store --------------------------------------------------------------------------------------------------------

pieces = st.lists(st.tuples(st.integers(0, 3), st.binary(min_size=1, max_size=64)), max_size=30)


@given(pieces)
def test_what_was_put_is_read_until_the_turn_after_the_next(steps: list[tuple[int, bytes]]) -> None:
    store = SoundStore()
    turn = 1
    kept: list[tuple[Clip, bytes]] = []
    for forward, pcm in steps:
        turn += forward
        kept.append((store.put(turn, pcm), pcm))
        newest = {
            parity: max(c.turn for c, _ in kept if c.turn % 2 == parity) for parity in {c.turn % 2 for c, _ in kept}
        }
        for clip, sound in kept:
            assert bytes(clip) == (sound if clip.turn == newest[clip.turn % 2] else bytes(len(sound)))


@given(st.binary(max_size=64), st.integers(0, 70), st.integers(0, 70), st.integers(0, 70))
def test_a_part_of_a_clip_is_the_part_of_its_sound(pcm: bytes, start: int, stop: int, again: int) -> None:
    store = SoundStore()
    store.put(1, b"before")
    clip = store.put(1, pcm)
    part = clip[start:stop][again:]
    assert bytes(part) == pcm[start:stop][again:]
    assert len(part) == len(pcm[start:stop][again:])


def test_a_clip_travels_without_its_store_and_is_fetched_where_it_arrives() -> None:
    store = SoundStore()
    sent = store.stored(ev.AudioFrame(turn=1, pcm=b"word"))
    assert b"word" not in pickle.dumps(sent)
    arrived = pickle.loads(pickle.dumps(sent))
    assert arrived == sent
    assert bytes(arrived.pcm) == bytes(4), "nowhere to fetch it from"
    other = SoundStore(store.files)
    assert other.fetched(arrived).pcm == b"word"
    assert bytes(other.claimed(arrived).pcm) == b"word"


@pytest.mark.parametrize("event", [ev.Transcript(stable="a"), ev.SpeechChunk(last=True), ev.Endpoint()])
def test_events_without_sound_stay_as_they_are(event: ev.Event) -> None:
    store = SoundStore()
    assert store.stored(event) is event
    assert store.fetched(event) is event
    assert store.claimed(event) is event


def test_sound_of_a_turn_long_past_is_not_kept() -> None:
    store = SoundStore()
    store.put(3, b"new")
    late = store.stored(ev.SpeechChunk(turn=1, pcm=b"late"))
    assert isinstance(late, ev.SpeechChunk)
    assert (len(late.pcm), bytes(late.pcm)) == (0, b"")


def test_the_room_is_bounded_and_what_was_kept_stays() -> None:
    store = SoundStore(limit=100)
    kept = store.put(1, bytes(60))
    with pytest.raises(OSError, match="kept already"):
        store.put(1, b"x" * 60)
    assert bytes(kept) == bytes(60)
    assert max(os.fstat(file).st_size for file in store.files) <= 100
    for turn in range(2, 20):
        store.put(turn, bytes(60))
        assert max(os.fstat(file).st_size for file in store.files) <= 100


def test_two_processes_that_write_at_a_time_lose_nothing() -> None:
    store = SoundStore()
    program = (
        "import sys\n"
        "from predtui.runtime.sound import SoundStore\n"
        "store = SoundStore([int(number) for number in sys.argv[1:3]])\n"
        "for n in range(2000):\n"
        "    clip = store.put(1, sys.argv[3].encode() * 7)\n"
        "    print(clip.start, clip.length)\n"
    )
    files = [str(number) for number in store.files]
    writers = {
        letter: subprocess.Popen(
            [sys.executable, "-c", program, *files, letter], stdout=subprocess.PIPE, text=True, pass_fds=store.files
        )
        for letter in "ab"
    }
    for letter, writer in writers.items():
        out, _ = writer.communicate(timeout=60)
        assert writer.returncode == 0
        clips = [Clip(1, *map(int, line.split()), source=store) for line in out.splitlines()]  # type: ignore[arg-type]
        assert len(clips) == 2000
        assert {bytes(clip) for clip in clips} == {letter.encode() * 7}


def test_a_dropped_store_leaves_no_open_file() -> None:
    before = psutil.Process().num_fds()
    for _ in range(5):
        SoundStore().put(1, b"sound")
    assert psutil.Process().num_fds() == before


def test_where_there_are_no_files_in_memory_nameless_ones_on_disk_serve(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = SoundStore()
    assert bytes(store.put(1, b"sound")) == b"sound"
    assert list(tmp_path.iterdir()) == []


def test_a_process_host_without_a_store_still_serves() -> None:
    events: list[ev.Event] = []
    host = process.ProcessHost(StageSpec("mic", f"{__name__}:mic", Pace()), events.append, RealClock())
    host.start()
    host.send(replace(ev.Listen(), turn=1))
    wait_for(lambda: [e for e in events if isinstance(e, ev.Endpoint)])
    host.stop()
    assert [e.pcm for e in events if isinstance(e, ev.AudioFrame)] == [frame(n) for n in range(FRAMES)]
