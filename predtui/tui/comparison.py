"""A turn as it was recorded beside the same turn asked again: figures, what differs, and both timelines on one axis.

Pure; must not know where the turns come from, nor of widgets.
"""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content

from predtui.state.turn import Turn
from predtui.tui import chart, figures
from predtui.tui.widgets.stages import loaded_model
from predtui.tui.widgets.timeline import course, label_width, picture

RECORDED, AGAIN = "as recorded", "what if"
BEFORE_END = 0.7
"""The share of a timeline's width that is left of the end of the input, at most."""


class Row(NamedTuple):
    """One figure of both, and what differs; empty where nothing is to be said."""

    name: str
    recorded: str
    again: str
    difference: str = ""


def rows(recorded: Turn, again: Turn) -> list[Row]:
    """What a person would ask first, first."""
    return [
        Row("model", *(loaded_model(turn.stages)[0] or figures.NONE for turn in (recorded, again))),
        Row("verifier", *map(_verifier, (recorded, again))),
        Row("decoder", *(turn.decoding.decoder if turn.decoding else "ar" for turn in (recorded, again))),
        _milliseconds("first audio", recorded.audio_latency_ms, again.audio_latency_ms),
        _milliseconds("first sentence", recorded.ttfs_ms, again.ttfs_ms),
        _count("NFE to it", recorded.nfetfs, again.nfetfs),
        _count("NFE in all", *(turn.reply.forwards if turn.reply else None for turn in (recorded, again))),
        _count("tokens of reply", *(turn.reply.tokens if turn.reply else None for turn in (recorded, again))),
        _count("tokens chosen", *(turn.reply.generated if turn.reply else None for turn in (recorded, again))),
        Row("guesses kept", *map(_kept, (recorded, again))),
    ]


def findings(recorded: Turn, again: Turn, recorded_on: str, here: str) -> list[str]:
    """Lines on what the figures do not say: whether the replies are the same, and what else may be the cause."""
    lines = [_replies(recorded, again)]
    if recorded.prompt != again.prompt:
        lines.insert(0, f"Other words were heard: {again.prompt or 'none'}")
    if not recorded_on:
        lines.append("The recording does not say on which machine it was made: milliseconds may differ for that alone.")
    elif recorded_on != here:
        lines.append(
            f"Another machine: recorded on {recorded_on}, asked again on {here}; NFE compare, milliseconds do not."
        )
    return lines


def pictures(recorded: Turn, again: Turn, width: int, height: int) -> tuple[list[Content], list[Content]]:
    """Both timelines, ``width`` cells each, with the end of the input in the same column."""
    courses = [course(turn) for turn in (recorded, again)]
    cells = width - max(map(label_width, courses))
    ends = [one.input_end if one.input_end is not None else one.latest for one in courses]
    longest = max(end - one.origin for end, one in zip(ends, courses, strict=True))
    before = min(int(longest / chart.CELL), int(BEFORE_END * cells)) * chart.CELL
    first, second = (picture(one, width, height, end - before) for one, end in zip(courses, ends, strict=True))
    return first, second


def _verifier(turn: Turn) -> str:
    verdict = turn.verdicts[-1] if turn.verdicts else None
    if verdict is None:
        return turn.reply.verifier if turn.reply else figures.NONE
    return verdict.verifier if verdict.lossless else f"{verdict.verifier}, lossy"


def _milliseconds(name: str, recorded: float | None, again: float | None) -> Row:
    difference = ""
    if recorded is not None and again is not None:
        sign = "+" if again >= recorded else "−"
        difference = f"{sign}{figures.milliseconds(abs(again - recorded))}"
    return Row(name, figures.milliseconds(recorded), figures.milliseconds(again), difference)


def _count(name: str, recorded: int | None, again: int | None) -> Row:
    told = [figures.NONE if value is None else str(value) for value in (recorded, again)]
    if recorded is None or again is None:
        return Row(name, told[0], told[1])
    return Row(name, told[0], told[1], f"{again - recorded:+d}".replace("-", "−") if again != recorded else "the same")


def _kept(turn: Turn) -> str:
    kept, of = sum(one.accepted for one in turn.verdicts), sum(one.of for one in turn.verdicts)
    return f"{kept} of {of} tokens"


def _replies(recorded: Turn, again: Turn) -> str:
    before, now = recorded.reply_text.strip(), again.reply_text.strip()
    if before == now:
        return "The replies are the same."
    if recorded.interrupted and before and now.startswith(before):
        return "The reply that was silenced then begins as this one does."
    return f"The replies differ.\n  {RECORDED}: {before or 'none'}\n  {AGAIN}: {now or 'none'}"
