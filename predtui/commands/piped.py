"""predtui without a screen: each line of standard input is a prompt, each reply a line of standard output.

All other words go to standard error. Must not know how replies are made.
"""

from __future__ import annotations

import os
import queue
import select
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from predtui.commands.turn import Inbox, events, example, until_ready
from predtui.errors import PredtuiError
from predtui.foreign import printable, without_controls
from predtui.runtime.build import make_pipeline
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.typing import Typed
from predtui.settings import Settings
from predtui.state import events as ev

FIRST_LINE_S = 5.0
"""How long the first line is waited for: what holds an unused pipe open as standard input wants no conversation."""
LONGEST_LINE = 10_000
"""Bytes of a prompt."""
NO_LINES = 1 << 26
"""Bytes without a line end after which standard input is given up."""


def converse(settings: Settings, why: str) -> int:
    """Answers standard input where it says anything; else plays the example turn, and says ``why``. Returns the exit
    status: 0 if every prompt was answered."""
    found = iter(lines(sys.stdin.fileno(), FIRST_LINE_S)) if sys.stdin and not sys.stdin.isatty() else iter(())
    first = next((line for line in found if line.strip()), None)
    if first is None:
        return example(settings, why)
    return answer_lines(settings, chain([first], found))


def lines(descriptor: int, patience_s: float | None) -> Iterator[str]:
    """The lines that come, without their ends; none where nothing has come within ``patience_s``; None: for ever. One
    that is longer than ``LONGEST_LINE`` is cut to one byte more. Raises PredtuiError for a stream that has no lines."""
    if not select.select([descriptor], [], [], patience_s)[0]:
        return
    rest, length = b"", 0
    while piece := os.read(descriptor, 1 << 16):
        *whole, rest = (rest + piece).split(b"\n")
        length = length + len(piece) if not whole else len(rest)
        if length > NO_LINES:
            raise PredtuiError("standard input has no lines.", "Give one prompt a line, as text.")
        yield from map(_text, whole)
        rest = rest[: LONGEST_LINE + 1]
    if rest:
        yield _text(rest)


def _text(line: bytes) -> str:
    text = line[: LONGEST_LINE + 1].decode("utf-8-sig", errors="replace")
    return without_controls(text).strip() if len(line) <= LONGEST_LINE else text


def answer_lines(settings: Settings, prompts: Iterable[str]) -> int:
    """One conversation over one pipeline, a line of standard output for each prompt that is not empty, in order. A
    prompt that has no reply has an empty line, and its reason on standard error."""
    speaks = heard_here(settings)
    needed = {"llm", "tts", "player"} if speaks else {"llm"}
    inbox: Inbox = queue.SimpleQueue()
    pipeline = make_pipeline(replace(settings, llm=replace(settings.llm, baseline=False)), only=needed)
    pipeline.subscribe(inbox.put)
    pipeline.start()
    unanswered = 0
    try:
        if not until_ready(inbox, _report, needed):
            return 1
        for prompt in prompts:
            if not prompt.strip():
                continue
            reply = _reply(pipeline, inbox, prompt, speaks)
            unanswered += not reply
            print(printable(reply), flush=True)
    finally:
        pipeline.stop()
    return 1 if unanswered else 0


def _reply(pipeline: Pipeline, inbox: Inbox, prompt: str, speaks: bool) -> str:
    """The committed reply, once it is heard; empty where there is none. Raises PredtuiError where none will follow."""
    if len(prompt) > LONGEST_LINE:
        print(f"predtui: a line is longer than {LONGEST_LINE} bytes, and is not answered.", file=sys.stderr)
        return ""
    before = pipeline.state.number
    pipeline.type_line(Typed(prompt, final=True))
    for event in events(inbox):
        _report(event)
        if isinstance(event, ev.StageStatus) and (event.stage, event.state) == ("llm", "failed"):
            raise PredtuiError("the language model has failed, and answers no more.")
        turn = pipeline.state
        if turn.number > before and (turn.phase == "done" or (turn.reply and not speaks)):
            return turn.reply_text.strip()
    return ""


def _report(event: ev.Event) -> None:
    """What a person must know, on standard error."""
    if isinstance(event, ev.Notice) and event.severity != "information":
        print(f"predtui: {printable(event.text)}", file=sys.stderr)
    elif isinstance(event, ev.StageStatus) and event.state in ("failed", "restarting", "silent", "waiting"):
        print(f"predtui: {printable(f'{event.stage} {event.state}: {event.message}')}", file=sys.stderr)


def heard_here(settings: Settings) -> bool:
    """Whether replies can be heard. Where not, nobody waits for them to be spoken."""
    if "none" in (settings.tts.engine, settings.audio.output):
        return False
    from predtui.audio.devices import find

    try:
        find("output", settings.audio.output)
    except PredtuiError:
        return False
    return True
