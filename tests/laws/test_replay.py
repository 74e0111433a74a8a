"""Replay equals live: whatever happened, folding what was recorded gives the Turn that was seen."""

from __future__ import annotations

import json
import tempfile
from dataclasses import is_dataclass
from functools import reduce as fold
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.state import events as ev
from predtui.state.codec import KINDS, RANGES, from_json, to_json
from predtui.state.exchange import Exchange
from predtui.state.recorder import Recorder
from predtui.state.reducer import reduce
from predtui.state.session import read
from predtui.state.sound import Clip
from predtui.state.turn import Turn, summary

TEXT = st.text(max_size=20)
TIMES = st.floats(0, 6e5)
"""Within a week, as in one session."""
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "turn": st.integers(0, 3),
    "revision": st.integers(0, 5),
    "time": TIMES,
    "pcm": st.binary(max_size=9),
    "rate": st.sampled_from([8000, 16000, 22050]),
    "history": st.lists(st.builds(ev.Message, st.sampled_from(["user", "assistant"]), TEXT), max_size=2).map(tuple),
    "exchanges": st.lists(st.builds(Exchange, TEXT, TEXT, st.booleans(), st.none() | TEXT), max_size=2).map(tuple),
    "stages": st.lists(st.tuples(TEXT, TIMES, TIMES), max_size=2).map(tuple),
    "stage": st.sampled_from(["asr", "llm", "tts", "player"]),
    "index": st.integers(0, 3),
}
EVENTS = st.one_of(
    [st.builds(kind, **{k: v for k, v in FIELDS.items() if k in kind.__dataclass_fields__}) for kind in KINDS.values()]
)
st.register_type_strategy(Clip, st.builds(Clip, st.just(1), st.just(0), st.integers(0, 100)))


def numbers(name: str, hint: Any) -> Any:
    """What a field may hold: numbers within its range, anything of its type else."""
    least, most = RANGES.get(name, (-1, 1e9))
    if hint is int:
        return st.integers(int(least), int(most))
    if hint in (float, float | None):
        return st.floats(least, most) if hint is float else st.none() | st.floats(least, most)
    if isinstance(hint, type) and is_dataclass(hint) and hint is not Clip:
        return built(hint)
    if name == "cores":
        return st.lists(st.floats(least, most), max_size=2).map(tuple)
    if (of := get_args(hint)[:1]) and is_dataclass(of[0]) and get_origin(hint) is tuple:
        return st.lists(built(of[0]), max_size=2).map(tuple)
    return FIELDS[name] if name in ("stages", "exchanges") else ...


def built(kind: type) -> st.SearchStrategy[Any]:
    return st.builds(kind, **{name: numbers(name, hint) for name, hint in get_type_hints(kind).items()})


ANY = st.one_of([built(kind) for kind in KINDS.values()])


@given(st.lists(EVENTS, max_size=40))
@settings(max_examples=30, deadline=None)
def test_replay_equals_live(events: list[ev.Event]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder) / "s", lambda event: None)
        for event in events:
            recorder(event)
        recorder.close()
        again = list(read(Path(folder) / "s"))
    assert again == events
    assert fold(reduce, again, Turn()) == fold(reduce, events, Turn())


@given(ANY)
@settings(max_examples=150, deadline=None)
def test_every_event_survives_json_but_for_its_sound(event: ev.Event) -> None:
    again = from_json(json.loads(json.dumps(to_json(event))))
    assert repr(again) == repr(event) or isinstance(event, ev.AudioFrame | ev.Overheard | ev.SpeechChunk)


@given(st.lists(EVENTS, max_size=60))
@settings(max_examples=50, deadline=None)
def test_any_history_folds_into_a_turn_that_can_be_told(events: list[ev.Event]) -> None:
    turn = fold(reduce, events, Turn())
    json.dumps(summary(turn))
    assert len(turn.verdicts) <= 50
    assert len(turn.notices) <= 50
    assert turn.number == max((e.turn for e in events if isinstance(e, ev.TurnStarted | ev.Resumed)), default=0)
