"""Two turns side by side: differences are those of the figures, never invented, and their timelines share an axis."""

from __future__ import annotations

import pytest

from predtui.state import events as ev
from predtui.state.turn import Turn
from predtui.tui.comparison import findings, pictures, rows
from tests.tui.scenes import answered, fold, machine, speculating

THEN = fold([*machine(), *answered()])
STAMP = {"turn": 2, "revision": 7}
NOW = fold(
    [
        *machine(),
        *speculating(6),
        ev.Endpoint(**STAMP, time=14.9),
        ev.Transcript(**STAMP, time=14.95, stable="what is the capital of france", unfinished=False, final=True),
        ev.Verdict(
            **STAMP, time=14.96, outcome="accept", accepted=9, of=12, verifier="top3", lossless=False, final=True
        ),
        ev.ReplyCommitted(**STAMP, time=14.97, text="The capital of France is Lyon."),
        ev.SpeechChunk(**STAMP, time=14.98, pcm=b"\0\0"),
        ev.Playback(**STAMP, time=15.0, state="started"),
        ev.ReplyFinished(**STAMP, time=15.1, text="The capital of France is Lyon.", tokens=9, forwards=4, ttfs_ms=8.1),
    ]
)


def told(then: Turn, now: Turn) -> dict[str, tuple[str, str, str]]:
    return {row.name: row[1:] for row in rows(then, now)}


def test_differences_are_those_of_the_figures() -> None:
    shown = told(THEN, NOW)
    assert shown["first audio"] == ("21 ms", "100 ms", "+79 ms")
    assert shown["first sentence"] == ("6.1 ms", "8.1 ms", "+2.0 ms")
    assert shown["NFE in all"] == ("9", "4", "−5")
    assert shown["verifier"] == ("greedy", "top3, lossy", "")
    assert told(THEN, THEN)["tokens of reply"][2] == "the same"


def test_what_was_not_measured_has_no_difference() -> None:
    assert all(not difference for _, _, difference in told(THEN, Turn()).values())
    assert told(Turn(), THEN)["first audio"] == ("–", "21 ms", "")


@pytest.mark.parametrize(
    ("then", "now", "on", "says"),
    [
        (THEN, THEN, "A, 2 cores", ["The replies are the same."]),
        (THEN, NOW, "A, 2 cores", ["The replies differ.\n  as recorded: The capital of France is Paris."]),
        (THEN, THEN, "B, 8 cores", ["The replies are the same.", "Another machine: recorded on B, 8 cores"]),
        (THEN, THEN, "", ["The replies are the same.", "The recording does not say on which machine"]),
        (THEN, Turn(), "A, 2 cores", ["Other words were heard: none", "The replies differ."]),
    ],
)
def test_what_the_figures_do_not_say_is_said(then: Turn, now: Turn, on: str, says: list[str]) -> None:
    lines = findings(then, now, on, "A, 2 cores")
    assert len(lines) == len(says)
    assert all(line.startswith(said) for line, said in zip(lines, says, strict=True))


def test_a_reply_that_was_silenced_is_compared_as_far_as_it_goes() -> None:
    silenced = fold([*answered()[:-8], ev.Interrupt(turn=2, revision=8, time=13.4)])
    assert silenced.interrupted
    assert findings(silenced, THEN, "A", "A") == ["The reply that was silenced then begins as this one does."]


@pytest.mark.parametrize("width", [30, 58, 100])
def test_both_inputs_end_in_the_same_column(width: int) -> None:
    first, second = pictures(THEN, NOW, width, 6)
    columns = {lines[0].plain.index("┊") for lines in (first, second)}
    assert len(columns) == 1
    assert all(line.cell_length <= width for lines in (first, second) for line in lines)
