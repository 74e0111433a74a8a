"""A restarted stage that is given the log goes on where its predecessor ended: for any turn, and any moment of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.runtime.journal import Journal
from predtui.state import events as ev

RATE = 1000


class Model:
    """What a stage still has to do, as a fold over what it is given and what it has yielded."""

    name = ""
    accepts: tuple[type[ev.Event], ...] = ()

    def given(self, event: ev.Event) -> None: ...

    def yielded(self, event: ev.Event) -> None: ...


@dataclass
class Mic(Model):
    """Whether it listens, and to what."""

    name = "mic"
    accepts = (ev.Listen, ev.Endpoint, ev.Interrupt)
    listens: ev.Listen | None = None

    def given(self, event: ev.Event) -> None:
        self.listens = event if isinstance(event, ev.Listen) else None

    def yielded(self, event: ev.Event) -> None:
        if isinstance(event, ev.Endpoint):
            self.listens = None


@dataclass
class Asr(Model):
    """The utterance so far, until it is transcribed; what it was asked to measure."""

    name = "asr"
    accepts = (ev.TurnStarted, ev.AudioFrame, ev.SpeechActivity, ev.Endpoint, ev.Interrupt, ev.Baseline)
    heard: bytes = b""
    ended: bool = False
    speech: bool = False
    measures: int = 0

    def given(self, event: ev.Event) -> None:
        match event:
            case ev.TurnStarted() | ev.Interrupt():
                self.heard, self.ended, self.speech, self.measures = b"", False, False, 0
            case ev.AudioFrame():
                self.heard += bytes(event.pcm)
            case ev.SpeechActivity():
                self.speech = event.active
            case ev.Endpoint():
                self.ended = True
            case ev.Baseline():
                self.measures = 1

    def yielded(self, event: ev.Event) -> None:
        if isinstance(event, ev.Transcript) and event.final:
            self.heard, self.ended, self.speech = b"", False, False
        if isinstance(event, ev.BaselineRecognition):
            self.measures = 0


@dataclass
class Llm(Model):
    """The prompt to be answered and what came before it, until the reply stands; what it was asked to measure."""

    name = "llm"
    accepts = (ev.TurnStarted, ev.Transcript, ev.Interrupt, ev.Configure, ev.MeasureBaseline)
    history: tuple[ev.Message, ...] | None = None
    prompt: str = ""
    verifier: str = ""
    measures: str = ""

    def given(self, event: ev.Event) -> None:
        match event:
            case ev.TurnStarted():
                self.history, self.prompt, self.measures = event.history, "", ""
            case ev.Interrupt():
                self.history, self.prompt, self.measures = None, "", ""
            case ev.Transcript():
                self.prompt = event.text
            case ev.Configure():
                self.verifier = event.verifier
            case ev.MeasureBaseline():
                self.measures = event.prompt

    def yielded(self, event: ev.Event) -> None:
        if isinstance(event, ev.ReplyFinished):
            self.history, self.prompt = None, ""
        if isinstance(event, ev.Baseline):
            self.measures = ""


@dataclass
class Tts(Model):
    """The sentences still to be said, in whole, and whether the reply ends with them."""

    name = "tts"
    accepts = (ev.TurnStarted, ev.SentenceAhead, ev.ReplyCommitted, ev.ReplyFinished, ev.Interrupt, ev.Baseline)
    ahead: str = ""
    due: dict[int, str] = field(default_factory=dict)
    ends: bool = False
    measures: int = 0

    def given(self, event: ev.Event) -> None:
        match event:
            case ev.TurnStarted() | ev.Interrupt():
                self.ahead, self.due, self.ends, self.measures = "", {}, False, 0
            case ev.SentenceAhead():
                self.ahead = event.text
            case ev.ReplyCommitted():
                self.ahead, self.due[event.index] = "", event.text
            case ev.ReplyFinished():
                self.ends = True
            case ev.Baseline():
                self.measures = 1

    def yielded(self, event: ev.Event) -> None:
        match event:
            case ev.SpeechChunk(last=True):
                self.due.pop(event.index)
            case ev.SpeechEnd():
                self.ahead, self.due, self.ends = "", {}, False
            case ev.BaselineSpeech():
                self.measures = 0


@dataclass
class Player(Model):
    """The sound that has not been heard, and whether it is all."""

    name = "player"
    accepts = (ev.SpeechChunk, ev.SpeechEnd, ev.Interrupt)
    sound: bytes = b""
    played: int = 0
    ends: bool = False

    def given(self, event: ev.Event) -> None:
        match event:
            case ev.SpeechChunk():
                self.sound += bytes(event.pcm)
            case ev.SpeechEnd():
                self.ends = True
            case ev.Interrupt():
                self.sound, self.played, self.ends = b"", 0, False

    def yielded(self, event: ev.Event) -> None:
        if isinstance(event, ev.Playback):
            samples = round(event.seconds * RATE)
            self.sound, self.played = self.sound[2 * (samples - self.played) :], samples
            if event.state == "finished":
                self.sound, self.played, self.ends = b"", 0, False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Player) and (self.sound, self.ends) == (other.sound, other.ends)


MODELS: tuple[Callable[[], Model], ...] = (Mic, Asr, Llm, Tts, Player)


Log = list[tuple[str, ev.Event]]


def turns(rng: Random) -> Log:
    """Turns in an order that the gate lets pass, each event with the stage that yields it: typed or spoken, ended at
    any point by an interruption, which a new turn brings where one is under way, or by the end of the log."""
    log: Log = []
    count = rng.randint(1, 3)
    for number in range(1, count + 1):
        spoken = [*told(rng, number), *replied(rng)]
        turn = [*spoken, *measured(rng)]
        cut = rng.randint(1, len(turn))
        log += [(stage, replace(event, turn=number)) for stage, event in turn[:cut]]
        if cut < len(spoken) and (number < count or rng.random() < 0.5):
            log.append(("", ev.Interrupt(turn=number)))
    return log


def told(rng: Random, number: int) -> Log:
    """The input."""
    spoken = rng.random() < 0.7
    started = ev.TurnStarted(source="voice" if spoken else "typed", history=(ev.Message("user", f"turn {number}"),))
    events: Log = [("", started)]
    if spoken:
        events.append(("", ev.Listen(hands_free=rng.random() < 0.5)))
        position = 0
        for _ in range(rng.randint(0, 6)):
            samples = rng.randint(1, 4)
            events.append(("mic", ev.AudioFrame(pcm=rng.randbytes(2 * samples), position=position)))
            position += samples
            if rng.random() < 0.5:
                events.append(("mic", ev.SpeechActivity(active=rng.random() < 0.5)))
    for word in "abc"[: rng.randint(0, 3)]:
        events.append(("asr" if spoken else "", ev.Transcript(stable=word)))
        if rng.random() < 0.5:
            events += [("llm", ev.Candidate(prompt=word)), ("llm", ev.SentenceAhead(text=word))]
        if rng.random() < 0.5:
            events.append(("", ev.Configure(verifier=word)))
    if spoken:
        events.append((rng.choice(["", "mic"]), ev.Endpoint()))
    return [*events, ("asr" if spoken else "", ev.Transcript(stable="all", final=True))]


def replied(rng: Random) -> Log:
    """What llm, tts and player yield, woven into each other as their causes allow."""
    count = rng.randint(1, 3)
    llm: list[ev.Event] = [ev.ReplyCommitted(index=n, text=str(n)) for n in range(count)] + [ev.ReplyFinished(text="x")]
    tts: list[tuple[int, ev.Event]] = []
    for index in range(count):
        for _ in range(rng.randint(0, 3)):
            tts.append((index, ev.SpeechChunk(index=index, pcm=rng.randbytes(2 * rng.randint(1, 4)), rate=RATE)))
        tts.append((index, ev.SpeechChunk(index=index, rate=RATE, last=True)))
    tts.append((count, ev.SpeechEnd()))
    woven: Log = []
    committed, said, samples, played = 0, 0, 0, 0
    while said < len(tts):
        possible = {"tts": tts[said][0] < committed, "llm": committed < len(llm), "player": samples > played}
        stage = rng.choice([stage for stage, can in possible.items() if can])
        if stage == "llm":
            woven.append((stage, llm[committed]))
            committed += 1
        elif stage == "tts":
            event = tts[said][1]
            woven.append((stage, event))
            samples += len(event.pcm) // 2 if isinstance(event, ev.SpeechChunk) else 0
            said += 1
        else:
            played = rng.randint(played, samples)
            woven.append((stage, ev.Playback(state="playing", seconds=played / RATE)))
    return [*woven, ("player", ev.Playback(state="finished", seconds=samples / RATE))]


def measured(rng: Random) -> Log:
    answers: Log = [("tts", ev.BaselineSpeech()), ("asr", ev.BaselineRecognition())]
    rng.shuffle(answers)
    return [("", ev.MeasureBaseline(prompt="all")), ("llm", ev.Baseline()), *answers]


def feed(stage: Model, origin: str, event: ev.Event) -> None:
    if origin == stage.name:
        stage.yielded(event)
    elif isinstance(event, stage.accepts):
        stage.given(event)


@pytest.mark.parametrize("make", MODELS)
@given(rng=st.randoms(use_true_random=False))
def test_a_fresh_stage_given_the_log_is_where_one_is_that_never_died(make: Callable[[], Model], rng: Random) -> None:
    journal, lives = Journal(), make()
    for origin, event in turns(rng):
        passed = journal.enter(event)
        assert passed is not None
        feed(lives, origin, passed)
    fresh = make()
    for event in journal.resend(fresh.name, lambda event: isinstance(event, fresh.accepts)):
        fresh.given(event)
    assert fresh == lives


@given(pieces=st.lists(st.binary(min_size=1, max_size=5), min_size=1, max_size=6), data=st.data())
def test_a_synthesiser_that_says_a_sentence_again_is_heard_from_where_it_was(pieces: list[bytes], data: Any) -> None:
    """However it cuts the sentence the second time, and however often it dies."""
    sound = b"".join(piece * 2 for piece in pieces)
    journal, heard = Journal(), b""
    for event in (ev.TurnStarted(turn=1), ev.ReplyCommitted(turn=1, text="a")):
        journal.enter(event)
    for last in [False] * data.draw(st.integers(0, 3)) + [True]:
        cuts = sorted({2 * cut for cut in data.draw(st.sets(st.integers(1, len(sound) // 2)))} | {len(sound)})
        chunks = [
            ev.SpeechChunk(turn=1, pcm=sound[start:end], rate=RATE)
            for start, end in zip([0, *cuts], cuts, strict=False)
        ]
        for chunk in chunks if last else chunks[: data.draw(st.integers(0, len(chunks)))]:
            passed = journal.enter(chunk)
            heard += bytes(passed.pcm) if isinstance(passed, ev.SpeechChunk) else b""
        assert sound.startswith(heard)
        journal.resend("tts", lambda event: isinstance(event, Tts.accepts))
    assert heard == sound


def test_a_file_that_is_played_anew_is_not_heard_twice() -> None:
    journal = Journal()
    for event in (ev.TurnStarted(turn=1, source="file"), ev.Listen(turn=1, path="a.wav")):
        journal.enter(event)
    positions = []
    for _ in range(2):
        for position in (0, 2):
            frame = journal.enter(ev.AudioFrame(turn=1, pcm=b"abcd", position=position))
            positions += [frame.position] if isinstance(frame, ev.AudioFrame) else []
        (listen,) = journal.resend("mic", lambda event: isinstance(event, ev.Listen))
        assert listen == ev.Listen(turn=1, path="a.wav")
    assert positions == [0, 2]


def test_a_microphone_whose_turn_has_ended_is_not_asked_to_listen() -> None:
    journal = Journal()
    for event in (ev.TurnStarted(turn=1, source="voice"), ev.Listen(turn=1), ev.Endpoint(turn=1)):
        journal.enter(event)
    assert not [event for event in journal.resend("mic", lambda event: True) if isinstance(event, ev.Listen)]


def test_a_player_that_begins_anew_counts_on() -> None:
    journal = Journal()
    for event in (
        ev.TurnStarted(turn=1),
        ev.SpeechChunk(turn=1, pcm=bytes(2000), rate=RATE),
        ev.Playback(turn=1, state="playing", seconds=0.25),
    ):
        journal.enter(event)
    (rest,) = journal.resend("player", lambda event: isinstance(event, ev.SpeechChunk))
    assert isinstance(rest, ev.SpeechChunk)
    assert len(rest.pcm) == 1500
    told = journal.enter(ev.Playback(turn=1, state="playing", seconds=0.5))
    assert isinstance(told, ev.Playback)
    assert told.seconds == 0.75


def test_the_log_is_as_long_as_what_is_still_to_be_answered() -> None:
    journal = Journal()
    journal.enter(ev.TurnStarted(turn=1, source="voice"))
    for n in range(100):
        journal.enter(ev.AudioFrame(turn=1, pcm=bytes(2), position=n))
        journal.enter(ev.Transcript(turn=1, stable=str(n)))
        journal.enter(ev.Candidate(turn=1, prompt=str(n)))
        journal.enter(ev.Work(turn=1))
    assert len(journal.resend("asr", lambda event: True)) == 100 + 3
    journal.enter(ev.Transcript(turn=1, stable="all", final=True))
    assert [type(event) for event in journal.resend("llm", lambda event: True)] == [
        ev.TurnStarted,
        ev.Candidate,
        ev.Transcript,
    ]
