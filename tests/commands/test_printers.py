"""What a turn without a screen prints: for programs one JSON object per line, for people what they want to follow."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import replace

import pytest

from predtui.commands.printers import JsonPrinter, LinePrinter
from predtui.state import events as ev
from predtui.state.codec import from_json, to_json
from predtui.state.turn import summary
from tests.tui.scenes import answered, fold, machine

TURN = [*machine(), *answered()]


def lines(events: Iterable[ev.Event]) -> list[str]:
    out = io.StringIO()
    printer, told = LinePrinter(out), list(events)
    for event in told:
        printer.show(event)
    printer.close(fold(told))
    return out.getvalue().splitlines()


def test_every_event_but_sound_is_a_json_object_and_the_summary_is_the_last() -> None:
    out = io.StringIO()
    printer = JsonPrinter(out)
    for event in TURN:
        printer.show(event)
    printer.close(fold(TURN))
    objects = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [one["type"] for one in objects[:-1]] == [
        type(event).__name__ for event in TURN if not isinstance(event, (ev.SpeechChunk, ev.AudioFrame))
    ]
    assert objects[-1]["summary"]["reply"] == fold(TURN).reply_text


def test_a_person_reads_prompts_verdicts_the_reply_and_the_latencies() -> None:
    shown = lines(TURN)
    assert sum("◐" in line or "✓" in line or "✗" in line for line in shown) == len(fold(TURN).verdicts)
    assert [line.split()[-1] for line in shown if line.startswith("    user")][-1] == "france"
    assert [line for line in shown if line.startswith("   reply")] == [
        "   reply  The capital of France is Paris.",
        "   reply  It lies on the Seine.",
    ]
    assert "first audio 21.0 ms after the input (without: 95.9 ms)" in shown
    mute = lines([event for event in TURN if not isinstance(event, ev.SpeechChunk | ev.Playback)])
    assert not any("first audio" in line for line in mute)


def test_a_turn_that_was_refused_is_told_with_what_was_heard() -> None:
    refused = [ev.TurnStarted(turn=1, source="file"), ev.Interrupt(turn=1), ev.Refused(turn=1, heard="ten miles to")]
    assert lines(refused)[-1] == "refused: what was heard may not be all: ten miles to"
    assert lines([*refused[:-1], ev.Refused(turn=1)])[-1].endswith("nothing")
    assert summary(fold(refused))["refused"] == "ten miles to"
    assert summary(fold(TURN))["refused"] is None


@pytest.mark.parametrize(("text", "again"), [("what is", ""), ("what is", "t"), ("what is ", "the")])
def test_a_transcript_that_adds_nothing_is_not_printed(text: str, again: str) -> None:
    first = ev.Transcript(turn=1, stable=text.strip(), unfinished=False)
    later = replace(first, stable=text.strip(), tentative=again, unfinished=True)
    printed = [line for line in lines([ev.TurnStarted(turn=1), first, later]) if line.startswith("    user")]
    assert len(printed) == 1


def test_a_stage_that_lacks_its_device_is_told_from_one_that_has_failed() -> None:
    deaf = ev.StageStatus(stage="mic", state="ready", message="no microphone found", lacks="microphone")
    failed = ev.StageStatus(stage="llm", state="failed", message="no such file")
    starting = ev.StageStatus(stage="tts", state="starting", message="reading")
    shown = lines([deaf, failed, starting])
    assert shown == ["     mic  ready without a microphone", "     llm  failed no such file", "", "no reply"]


def test_how_drafts_did_is_the_last_line_where_there_were_any() -> None:
    draft = ev.Decoding(turn=2, decoder="duo", proposed=4, accepted=3, acceptance_rate=0.81, tokens_per_forward=3.4)
    assert lines([*TURN, draft])[-1] == "duo: 81% of drafted tokens accepted, 3.4 tokens per forward"
    assert lines([*TURN, replace(draft, note="off")])[-1] == "duo: off"


def test_what_a_turn_has_cost_a_server_is_told_where_there_is_one() -> None:
    asked = ev.Requests(turn=2, server="http://far", proof="text", count=7, cancelled=3, generated=120, wasted=80)
    turn = answered()
    shown = lines([*machine(), *turn[:-1], replace(asked, turn=turn[-1].turn), turn[-1]])
    told = "http://far, candidates regenerated and compared as text: 7 requests (3 cancelled), "
    assert told + "120 words generated, 80 of them wasted" in shown
    assert not any("requests" in line for line in lines(TURN))
    assert summary(fold(TURN))["requests"] is None


def test_what_was_thought_is_told_and_is_none_of_the_reply() -> None:
    thought = ev.Thought("Okay, the user asks.", 31, 1240.0)
    told = [replace(e, thought=thought) if isinstance(e, ev.ReplyFinished | ev.Candidate) else e for e in TURN]
    assert " thought  31 tokens, 1240.0 ms  «Okay, the user asks.»" in lines(told)
    assert not any("thought" in line for line in lines(TURN))
    assert summary(fold(told))["thought"] == {"text": thought.text, "tokens": 31, "ms": 1240.0}
    assert (summary(fold(told))["reply"], summary(fold(TURN))["thought"]) == (fold(TURN).reply_text, None)
    finished = next(event for event in told if isinstance(event, ev.ReplyFinished))
    assert from_json(json.loads(json.dumps(to_json(finished)))) == finished


@pytest.mark.parametrize(
    ("proof", "says"),
    [
        ("exact", "9/15 tokens kept, 2 requests"),
        ("regenerates", "9/15 tokens confirmed, 2 requests"),
        ("text", "9/15 words confirmed, 2 requests"),
    ],
)
def test_what_a_server_was_shown_to_say_again_is_told_in_what_it_tells(proof: ev.Proof, says: str) -> None:
    verdict = ev.Verdict(turn=2, outcome="accept", accepted=9, of=15, forwards=2, ms=3.0)
    shown = lines([*TURN, ev.Requests(turn=2, server="http://far", proof=proof, count=1), verdict])
    assert any(f"✓  accept  {says}, 3.0 ms" in line for line in shown)
    assert any("9/15 tokens kept, 2 forwards, 3.0 ms" in line for line in lines([*TURN, verdict]))


def test_the_notes_that_a_reply_rests_on_are_named_and_command_no_terminal() -> None:
    found = ev.Retrieved(turn=2, revision=7, notes=("trip.md", "a\x1b[2J.md"), passages=2, final=True)
    told = lines([*TURN, found])
    assert [line for line in told if "notes" in line] == ["   notes  from trip.md, a [2J.md"]
    assert summary(fold([*TURN, found]))["notes"] == ["trip.md", "a\x1b[2J.md"]
