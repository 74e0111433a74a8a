"""Queues coalesce, are bounded, and know what is stale."""

from __future__ import annotations

from predtui.audio.resample import FRAME, RATE
from predtui.audio.sources import LONGEST_SECONDS
from predtui.runtime.hosts.inbox import Inbox
from predtui.state import events as ev


def test_newer_state_replaces_waiting_state_and_commits_stay() -> None:
    inbox = Inbox()
    sent = [
        ev.Transcript(turn=1, revision=1, stable="a"),
        ev.Configure(turn=1, revision=1, verifier="x"),
        ev.Transcript(turn=1, revision=2, stable="b"),
        ev.TurnStarted(turn=2),
        ev.Transcript(turn=2, revision=1, stable="c"),
        ev.Transcript(turn=2, revision=2, stable="d", final=True),
    ]
    for event in sent:
        inbox.put(event)
    assert [inbox.get(0) for _ in range(4)] == [sent[1], sent[3], sent[5], None]


def test_a_full_queue_drops_the_oldest_sound_and_says_so_once() -> None:
    inbox = Inbox(frame_capacity=3)
    told = [inbox.put(ev.AudioFrame(turn=1, position=n)) for n in range(6)]
    inbox.put(ev.Endpoint(turn=1, revision=1))
    assert told == [False, False, False, True, False, False]
    got = [inbox.get(0) for _ in range(4)]
    assert [e.position for e in got if isinstance(e, ev.AudioFrame)] == [3, 4, 5]
    assert isinstance(got[-1], ev.Endpoint)
    assert [inbox.put(ev.AudioFrame(turn=1)) for _ in range(4)] == [False, False, False, True]


def test_an_endpoint_overtakes_listening_but_not_the_sound_before_it() -> None:
    inbox = Inbox()
    inbox.put(ev.Endpoint(turn=1, revision=4))
    assert inbox.stale(ev.Listen(turn=1))
    assert not inbox.stale(ev.AudioFrame(turn=1))
    inbox.put(ev.Interrupt(turn=1, revision=5))
    assert inbox.stale(ev.AudioFrame(turn=1))


def test_the_longest_turn_fits_as_a_restarted_recogniser_is_given_it() -> None:
    inbox, frames = Inbox(), round(LONGEST_SECONDS * RATE / FRAME)
    assert not any(inbox.put(ev.AudioFrame(turn=1, position=FRAME * count)) for count in range(frames))
    first = inbox.get(0.0)
    assert isinstance(first, ev.AudioFrame)
    assert first.position == 0
    assert len(inbox) == frames - 1
