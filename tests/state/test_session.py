"""Sessions: written, read back, played; malformed lines and full disks are told, not raised."""

from __future__ import annotations

import errno
import itertools
import json
import os
import threading
import time
import wave
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from predtui.state import events as ev
from predtui.state import recorder as recording
from predtui.state import session
from predtui.state.codec import KINDS, from_json, to_json
from predtui.state.recorder import Recorder, new_session_folder
from predtui.state.replay import Replay
from predtui.state.session import find_session, play, read
from predtui.state.tape import LONGEST_PAUSE

EVENTS = [
    ev.TurnStarted(turn=1, time=1.0, source="voice", history=(ev.Message("user", "hi"), ev.Message("assistant", "yo"))),
    ev.AudioFrame(turn=1, time=1.02, pcm=b"\1\0\2\0", position=0),
    ev.AudioFrame(turn=1, time=1.04, pcm=b"\3\0\4\0", position=2, voiced=False),
    ev.Usage(cpu=3.5, memory_mb=10.0, stages=(("llm", 1.0, 2.0), ("tts", 0.5, 3.0))),
    ev.Transcript(turn=1, revision=1, time=1.5, stable='quoted " and é\n', final=True),
    ev.SpeechChunk(turn=1, revision=1, time=1.6, pcm=b"\5\0", rate=22050),
    ev.SpeechChunk(turn=1, revision=1, time=1.7, pcm=b"", last=True),
    ev.SpeechChunk(turn=1, revision=1, time=1.7, index=1, pcm=b"odd"),
]


def record(folder: Path, events: list[ev.Event]) -> list[ev.Event]:
    told: list[ev.Event] = []
    recorder = Recorder(folder, told.append)
    for event in events:
        recorder(event)
    recorder.close()
    recorder.close()
    return told


def caught_up(recorder: Recorder) -> None:
    until = time.monotonic() + 60
    while recorder.behind:
        assert time.monotonic() < until
        time.sleep(0.001)


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    assert record(tmp_path / "s", EVENTS) == []
    assert list(read(tmp_path / "s")) == EVENTS
    assert list(read(tmp_path / "s" / "session.jsonl")) == EVENTS
    with wave.open(str(tmp_path / "s" / "input-16000.wav")) as sound:
        assert (sound.getframerate(), sound.readframes(99)) == (16000, b"\1\0\2\0\3\0\4\0")


def test_a_recording_cut_off_by_a_crash_is_whole_up_to_there(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "s", lambda event: None)
    for event in EVENTS:
        recorder(event)
    caught_up(recorder)
    assert list(read(tmp_path / "s")) == EVENTS
    recorder.close()


def test_every_event_type_survives_json() -> None:
    for kind in KINDS.values():
        event = kind(turn=3, revision=2, time=0.1)
        assert from_json(json.loads(json.dumps(to_json(event)))) == event


def test_sound_without_its_file_reads_as_silence() -> None:
    assert from_json(to_json(EVENTS[1])) == ev.AudioFrame(turn=1, time=1.02, pcm=bytes(4), position=0)


@pytest.mark.parametrize(
    ("record_", "complaint"),
    [
        (["no"], "not a JSON object"),
        ({"type": "Nonsense"}, "unknown event type 'Nonsense'"),
        ({"type": "Notice", "txt": "a"}, "Notice has no field 'txt'"),
        ({"type": "Notice", "text": 3}, "Notice.text: 3 is not str"),
        ({"type": "Endpoint", "reason": "boredom"}, "'boredom' is none of"),
        ({"type": "TurnStarted", "history": [{"role": "user"}]}, "TurnStarted.history"),
        ({"type": "AudioFrame", "pcm": {"file": "x.wav", "offset": 0, "samples": 1}}, "AudioFrame.pcm"),
    ],
)
def test_a_malformed_record_names_its_field(record_: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        from_json(record_)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"type": "Nonsense"}',
        '{"type": "AudioFrame", "pcm": {"file": "../other.wav", "offset": 0, "samples": 1}}',
        '{"type": "AudioFrame", "pcm": {"file": "gone.wav", "offset": 0, "samples": 1}}',
        '{"type": "AudioFrame", "pcm": {"file": "input-16000.wav", "offset": 3, "samples": 9}}',
        '{"type": "AudioFrame", "pcm": {"file": "input-16000.wav", "offset": 0, "samples": 99999999999999999999}}',
        '{"type": "AudioFrame", "pcm": {"bytes": 99999999999999999999}}',
        '{"type": "AudioFrame", "pcm": {"base64": "%"}}',
        "\0\udcff",
        '{"type": "AudioFrame", "pcm": {"file": "input-16000.wav", "offset": Infinity, "samples": 1}}',
        '{"type": "AudioFrame", "pcm": {"file": "input-16000.wav", "offset": 1e400, "samples": []}}',
        '{"type": "AudioFrame", "pcm": {"file": "pipe", "offset": 0, "samples": 1}}',
        '{"type": "StageStatus", "time": 1e9}',
        '{"type": "StageStatus", "time": 1e6}',
        '{"type": "StageStatus", "time": NaN}',
        '{"type": "StageStatus", "time": Infinity}',
        f'{{"type": "StageStatus", "progress": 1{"0" * 400}}}',
        f'{{"type": "StageStatus", "progress": 1{"0" * 5000}}}',
        '{"type": "Notice", "text": ["' + "x" * 100_000 + '"]}',
        "[" * 100_000,
    ],
)
def test_a_malformed_line_is_a_notice_with_file_and_line(tmp_path: Path, line: str) -> None:
    record(tmp_path / "s", EVENTS[:3])
    file = tmp_path / "s" / "session.jsonl"
    lines = file.read_text().splitlines()
    os.mkfifo(tmp_path / "s" / "pipe")
    file.write_bytes("\n".join([*lines[:2], line, "", lines[2]]).encode(errors="surrogateescape"))
    first, second, notice, last = read(tmp_path / "s")
    assert [first, second, last] == EVENTS[:3]
    assert isinstance(notice, ev.Notice)
    assert notice.text.startswith(f"{file}, line 3: ")
    assert len(notice.text) < 1000


def test_what_is_no_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="no recorded session"):
        find_session(tmp_path / "nowhere")
    with pytest.raises(PredtuiError, match="no recorded session"):
        find_session(tmp_path)
    (tmp_path / "notes.txt").write_text("dear diary\n" * 3)
    with pytest.raises(PredtuiError, match=r"no recorded session: line 1 is none of its events \(no JSON\)"):
        list(read(tmp_path / "notes.txt"))
    with pytest.raises(PredtuiError, match=r"no recorded session: line 1 is none of its events \(no JSON\)"):
        Replay(tmp_path / "notes.txt")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(PredtuiError, match="nothing was recorded"):
        Replay(tmp_path / "empty.jsonl")
    with pytest.raises(PredtuiError, match="nothing was recorded"):
        play(tmp_path / "empty.jsonl", print, VirtualClock())


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(min_size=1, max_size=400))
def test_bytes_that_are_no_recording_are_told_to_be_none_with_their_line(tmp_path: Path, noise: bytes) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(noise)
    text = noise.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    first = next((number for number, line in enumerate(text.split("\n"), 1) if line.strip()), None)
    if first is None:
        assert list(read(file)) == []
        return
    with pytest.raises(PredtuiError) as refused:
        list(read(file))
    assert refused.value.message.startswith(f"{file} is no recorded session: line {first} ")
    assert "char" not in refused.value.message.removeprefix(str(file)), "a parser's words"


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    record(tmp_path, EVENTS)
    with pytest.raises(PredtuiError, match="holds a session already"):
        Recorder(tmp_path, print)
    (tmp_path / "file").write_text("")
    with pytest.raises(PredtuiError, match="cannot record here"):
        Recorder(tmp_path / "file" / "s", print)


def test_two_sessions_never_share_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path))
    first = new_session_folder()
    assert first.parent == tmp_path / "sessions"
    assert new_session_folder() != first


def test_a_full_disk_stops_the_recording_with_one_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[ev.Event] = []
    recorder = Recorder(tmp_path / "s", told.append)
    recorder(EVENTS[0])

    def full(self: Any, pcm: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(wave.Wave_write, "writeframes", full)
    for event in EVENTS * 2:
        recorder(event)
    recorder.close()
    (notice,) = told
    assert isinstance(notice, ev.Notice)
    assert "No space left on device" in notice.text
    assert next(iter(read(tmp_path / "s"))) == EVENTS[0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    told: list[ev.Event] = []
    recorder = Recorder(tmp_path / "s", told.append)
    assert recorder._files is not None
    recorder._files._lines = open("/dev/full", "w", buffering=1)  # noqa: SIM115 (the recorder closes it)
    for event in EVENTS:
        recorder(event)
    recorder.close()
    assert len(told) == 1


def test_a_slow_disk_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, write = threading.Event(), wave.Wave_write.writeframes

    def slow(self: Any, pcm: bytes) -> None:
        goes_on.wait(60)
        write(self, pcm)

    monkeypatch.setattr(wave.Wave_write, "writeframes", slow)
    told: list[ev.Event] = []
    recorder = Recorder(tmp_path / "s", told.append)
    for event in EVENTS:
        recorder(event)
    assert recorder.behind
    goes_on.set()
    assert recorder.close()
    assert list(read(tmp_path / "s")) == EVENTS
    assert told == []


def test_a_disk_that_hangs_ends_the_recording_with_one_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs, goes_on = threading.Event(), threading.Event()

    def hang(self: Any, pcm: bytes) -> None:
        hangs.set()
        goes_on.wait(60)

    monkeypatch.setattr(recording, "BEHIND", 5000)
    monkeypatch.setattr(recording, "PATIENCE_S", 0.1)
    monkeypatch.setattr(wave.Wave_write, "writeframes", hang)
    told: list[ev.Event] = []
    recorder = Recorder(tmp_path / "s", told.append)
    recorder(EVENTS[1])
    assert hangs.wait(60)
    for event in EVENTS * 5:
        recorder(event)
    assert not recorder.recording
    (notice,) = told
    assert isinstance(notice, ev.Notice)
    assert "too slow" in notice.text
    assert not recorder.close()
    goes_on.set()


def test_play_keeps_the_recorded_pace(tmp_path: Path) -> None:
    record(tmp_path / "s", EVENTS)
    clock = VirtualClock(100.0)
    heard: list[tuple[float, ev.Event]] = []
    play(tmp_path / "s", lambda event: heard.append((clock.now(), event)), clock, speed=0.5)
    assert [event for _, event in heard] == EVENTS
    assert [round(time, 6) for time, _ in heard[:3]] == [100.0, 100.04, 100.08]
    assert heard[-1][0] == pytest.approx(101.4)


def test_a_long_pause_of_a_recording_is_cut_short(tmp_path: Path) -> None:
    record(
        tmp_path / "s", [ev.Notice(text=str(at), time=at) for at in (5.0, 6.0, 90_000.0, 90_001.0, 80_000.0, 80_002.0)]
    )
    clock = VirtualClock(0.0)
    heard: list[float] = []
    play(tmp_path / "s", lambda event: heard.append(round(clock.now(), 6)), clock)
    assert heard[:4] == [0.0, 1.0, 1.0 + LONGEST_PAUSE, 2.0 + LONGEST_PAUSE]
    assert heard[-1] < 3 * LONGEST_PAUSE


def test_a_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "LONGEST_LINE", 100)
    (tmp_path / "long.jsonl").write_text('{"type": "Notice"}\n' + "x" * 101)
    with pytest.raises(PredtuiError, match=r"line 2: longer than 100 characters"):
        list(read(tmp_path / "long.jsonl"))


def test_thirty_turns_leave_no_more_files_open_than_two(tmp_path: Path) -> None:
    def turn(number: int) -> None:
        recorder(ev.TurnStarted(turn=number))
        for pcm, rate in itertools.product((b"\1\0", b"\2\0"), (22050, 16000)):  # one engine speaks for another
            recorder(ev.AudioFrame(turn=number, pcm=pcm))
            recorder(ev.SpeechChunk(turn=number, pcm=pcm, rate=rate))

    recorder = Recorder(tmp_path / "s", lambda event: None)
    turn(1)
    turn(2)
    caught_up(recorder)
    before = len(os.listdir("/proc/self/fd"))
    for number in range(3, 33):
        turn(number)
    caught_up(recorder)
    assert len(os.listdir("/proc/self/fd")) == before
    recorder.close()
    chunks = [event for event in read(tmp_path / "s") if isinstance(event, ev.SpeechChunk)]
    assert [bytes(chunk.pcm) for chunk in chunks] == [b"\1\0", b"\1\0", b"\2\0", b"\2\0"] * 32
