"""Events as JSON: any event comes back as it was, and what is none is refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.state import events as ev
from predtui.state.codec import KINDS, MAX_SILENCE, RANGES, from_json, inline_sound, to_json
from predtui.state.sound import Clip

st.register_type_strategy(Clip, st.builds(Clip, st.just(1), st.just(0), st.integers(0, 100)))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


@pytest.mark.parametrize("kind", KINDS.values())
@given(st.data())
def test_any_event_survives_json_with_its_sound(kind: type[ev.Event], data: st.DataObject) -> None:
    fields = {name: st.floats(*ends) for name, ends in RANGES.items() if name in ("time", "progress")}
    fields |= {name: st.floats(-1e12, 1e12) for name, hint in kind.__annotations__.items() if hint == "float"} | fields
    given = {name: held for name, held in fields.items() if name in kind.__dataclass_fields__}
    if issubclass(kind, ev.AudioFrame | ev.SpeechChunk):
        given["rate"] = st.integers(1, 1 << 20)
    event = data.draw(st.builds(kind, **given)) if kind is not ev.Usage else ev.Usage(stages=(("llm", 1.0, 2.0),))
    sound = bytes(event.pcm) if isinstance(event, ev.AudioFrame | ev.SpeechChunk) else None
    text = json.dumps(to_json(event, None if sound is None else inline_sound(sound)))
    read = from_json(json.loads(text))
    if isinstance(read, ev.AudioFrame | ev.SpeechChunk):
        assert read.pcm == sound
        assert json.dumps(to_json(read, inline_sound(read.pcm))) == text
    else:
        assert json.dumps(to_json(read)) == text


@given(st.sampled_from(sorted(KINDS)), st.dictionaries(st.sampled_from(["turn", "text", "pcm", "stages", "x"]), values))
def test_whatever_a_record_holds_it_is_an_event_or_a_value_error(kind: str, record: dict[str, Any]) -> None:
    complaint, event = "", None
    try:
        event = from_json({"type": kind, **record})
    except ValueError as error:
        complaint = str(error)
    assert type(event) is KINDS[kind] or any(name in complaint for name in (*record, kind))


@pytest.mark.parametrize("kind", [ev.AudioFrame, ev.SpeechChunk])
@pytest.mark.parametrize("pcm", [b"abcd", Clip(1, 0, 4)])
def test_sound_that_is_kept_nowhere_leaves_its_length(kind: Any, pcm: bytes | Clip) -> None:
    record = to_json(kind(pcm=pcm))
    assert record["pcm"] == {"bytes": 4}
    assert from_json(record) == kind(pcm=bytes(4))


@pytest.mark.parametrize("length", [-1, MAX_SILENCE + 1, 1.5, "4", True])
def test_a_length_that_no_sound_has_is_refused(length: object) -> None:
    with pytest.raises(ValueError, match=r"AudioFrame\.pcm"):
        from_json({"type": "AudioFrame", "pcm": {"bytes": length}})


def test_sessions_of_former_versions_are_read() -> None:
    assert from_json({"type": "Future", "prompt": "a", "sentence": "b"}) == ev.Continuation(prompt="a", sentence="b")
    assert from_json({"type": "Candidate", "struck": "a"}) == ev.Candidate(rejected="a")


@pytest.mark.parametrize(
    "number", ["1" + "0" * 400, "-1e300", "1e400", "NaN", "Infinity", "-Infinity", "true", '"1"', "[1]"]
)
@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("Notice", "time"),
        ("Notice", "turn"),
        ("StageStatus", "progress"),
        ("Work", "end"),
        ("Usage", "cpu"),
        ("Usage", "gpu"),
        ("AudioFrame", "rate"),
        ("Verdict", "accepted"),
    ],
)
def test_a_number_that_cannot_be_is_refused(kind: str, field: str, number: str) -> None:
    with pytest.raises(ValueError, match=rf"{kind}\.{field}: "):
        from_json(json.loads(f'{{"type": "{kind}", "{field}": {number}}}'))


@pytest.mark.parametrize(
    "record",
    [
        {"type": "Usage", "stages": [["llm"]]},
        {"type": "Usage", "stages": [["llm", 1.0, float("nan")]]},
        {"type": "TurnStarted", "history": [{"role": "nobody", "content": "x"}]},
        {"type": "TurnStarted", "history": [{"role": "user", "content": 5}]},
        {"type": "Notice", "time": -1.0},
        {"type": "AudioFrame", "rate": 0},
    ],
)
def test_values_within_values_are_looked_at_too(record: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"Usage|TurnStarted|Notice|AudioFrame"):
        from_json(record)
