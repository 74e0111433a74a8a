"""What is said, and when: times that can be counted on fingers, and files that lie."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.lab.bench import streams
from predtui.lab.bench.streams import Dialogue, Stream
from predtui.state.events import Event, Message, Transcript, TurnStarted


def prompts_of(events: list[Event]) -> list[tuple[float, str, bool]]:
    """When each new revision comes, with its prompt, and whether it is final."""
    firsts = {e.revision: e for e in reversed(events) if isinstance(e, Transcript) and e.revision}
    return [(round(e.time, 3), e.prompt, e.final) for e in sorted(firsts.values(), key=lambda e: e.revision)]


def test_a_word_counts_with_the_space_after_it_and_the_last_one_with_the_key_that_ends_the_input() -> None:
    events = streams.events(streams.typed(" how far  is it ", rate=600), ())
    assert prompts_of(events) == [
        (0.4, "how", False),
        (0.8, "how far", False),
        (1.2, "how far is", False),
        (1.5, "how far is it", True),
    ]
    assert prompts_of(streams.events(streams.typed("why", rate=60), ())) == [(4.0, "why", True)]


def test_in_a_pause_the_unfinished_word_counts_until_it_grows() -> None:
    said = Stream(((0.0, "a b"), (1.0, "a bc"), (1.1, "a bcd"), (2.0, "a bcd"), (2.2, "a bcd")))
    assert prompts_of(streams.events(said, (), pause_s=0.5)) == [
        (0.0, "a", False),
        (0.5, "a b", False),
        (1.6, "a bcd", False),
        (2.2, "a bcd", True),
    ]


def test_words_that_come_at_once_after_a_pause_are_heard() -> None:
    said = Stream(((0.0, "what"), (1.0, "what is the ca"), (5.0, "what is the cat")))
    assert prompts_of(streams.events(said, (), pause_s=0.5)) == [
        (0.5, "what", False),
        (1.0, "what is the", False),
        (1.5, "what is the ca", False),
        (5.0, "what is the cat", True),
    ]


def test_events_are_numbered_and_sifted_as_in_the_app() -> None:
    said = Stream(((0.0, " a"), (1.0, " a b"), (2.0, " a b."), (3.0, " a b c")))
    history = (Message("user", "x"), Message("assistant", "y"))
    started, *transcripts = streams.events(said, history)
    assert started == TurnStarted(turn=1, history=history)
    told = [
        (event.revision, event.time, event.prompt, event.final)
        for event in transcripts
        if isinstance(event, Transcript)
    ]
    assert told == [(0, 0.0, "", False), (1, 1.0, "a", False), (2, 2.0, "a b.", False), (3, 3.0, "a b c", True)]


def test_without_speculation_only_the_end_is_heard() -> None:
    _, only = streams.events(streams.typed("how far is it"), (), speculates=False)
    assert isinstance(only, Transcript)
    assert (only.final, only.prompt, only.time) == (True, "how far is it", 1.4)


def test_pocket_dialogues_have_one_turn_or_several_and_an_oracle_for_the_last() -> None:
    found = streams.pocket(60, seed=2)
    assert len(found) == 60
    assert {len(dialogue.turns) for dialogue in found} == {1, 2, 3}
    again = streams.pocket(60, seed=2)
    assert [dialogue.turns[0].text for dialogue in found] == [dialogue.turns[0].text for dialogue in again]
    for dialogue in found:
        *before, turn = dialogue.turns
        assert all(earlier.right is None for earlier in before)
        assert turn.right is not None
        assert not turn.right("It is 123456789.")


def test_prompt_files(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    lines = [{"turns": ["one two", "three"], "reference": ["so 1,204 #### 12"]}, {"prompt": "four"}]
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n")
    first, second = streams.prompts(path, 0)
    assert [turn.text for turn in first.turns] == ["one two", "three"]
    assert first.turns[0].right is not None
    assert first.turns[0].right("That makes 12.")
    assert not first.turns[0].right("12 of 13.")
    assert first.turns[1].right is None
    assert second == Dialogue((streams.typed("four"),))
    assert len(streams.prompts(path, 1)) == 1


@pytest.mark.parametrize(
    ("reference", "reply", "right"),
    [
        ("#### 1,000", "It is 1000.", True),
        ("1000.0", "It is 1,000", True),
        ("3", "none", False),
        ("Paris", "It is paris, I think.", True),
        ("Paris", "Parisian", False),
    ],
)
def test_references(reference: str, reply: str, right: bool) -> None:
    assert streams.answers_as(reference, reply) is right


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{}", "neither"),
        ("[1]", "neither"),
        ("nonsense", "neither"),
        ('{"turns": []}', "turns must be texts"),
        ('{"turns": "a b"}', "turns must be texts"),
        ('{"prompt": "  "}', "turns must be texts"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(f'{{"prompt": "fine"}}\n\n{line}\n')
    with pytest.raises(PredtuiError, match=f"p.jsonl, line 3: {complaint}"):
        streams.prompts(path, 0)


def test_recorded_streams(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"How far is it?": [[" How f-", 0.0], [" How far it", 0.5], [" How far is it?", 2.25]]}))
    (dialogue,) = streams.dialogues("pocket", 0, 1, recording=path)
    told = [(e.time, e.prompt) for e in streams.events(dialogue.turns[0], ()) if isinstance(e, Transcript)]
    assert told == [(0.0, "How"), (0.5, "How far"), (2.25, "How far is it?")]


@pytest.mark.parametrize(
    "content",
    [
        *("[]", "{", "{}", '{"a": []}', '{"a": [["x", 2], ["y", 1]]}', '{"a": [["x"]]}', '{"a": "bc"}'),
        *('{"a": [["x", NaN]]}', '{"a": [["x", -1]]}', '{"a": [["x", 1e300]]}', '{"a": [[null, 1]]}'),
    ],
)
def test_a_bad_recording_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(content)
    with pytest.raises(PredtuiError):
        streams.dialogues("pocket", 0, 1, recording=path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match=r"gone\.jsonl cannot be read"):
        streams.dialogues(str(tmp_path / "gone.jsonl"), 0, 1)


def test_a_file_with_a_prompt_a_line_is_read_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "said.txt"
    path.write_text('how far is it\n\n  {"why"} not?\nso\n')
    found = streams.dialogues(str(path), 2, 1, rate=300)
    assert found == [Dialogue((streams.typed(text, 300),)) for text in ("how far is it", '{"why"} not?')]


@pytest.mark.parametrize("together", [1, 2, 3, 9])
def test_prompts_can_be_asked_one_after_another(tmp_path: Path, together: int) -> None:
    path = tmp_path / "said.txt"
    path.write_text("a\nb\nc\nd\ne\n")
    found = streams.dialogues(str(path), 0, 1, together=together)
    assert [turn.text for dialogue in found for turn in dialogue.turns] == [*"abcde"]
    assert [len(dialogue.turns) for dialogue in found[:-1]] == [together] * (len(found) - 1)


def test_the_shipped_questions_are_spoken_english_of_which_no_two_are_alike() -> None:
    texts = [dialogue.turns[0].text for dialogue in streams.dialogues("everyday", 0, 1)]
    assert len(texts) == len(set(texts)) >= 40
    assert all(6 <= len(text.split()) <= 25 for text in texts)
    assert all(text == text.lower() and text.isascii() for text in texts)
