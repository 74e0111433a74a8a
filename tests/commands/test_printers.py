"""What a turn without a screen prints: for programs one JSON object per line, for people what they want to follow."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import replace

import pytest

from predtui.commands.printers import JsonPrinter, LinePrinter
from predtui.state import events as ev
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
