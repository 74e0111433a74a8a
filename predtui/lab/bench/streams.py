"""What is said to the benches, and when: typed at a steady pace, or as a recogniser heard it, from files or the corpus.

Must not know how a reply is made or measured.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from predtui.errors import PredtuiError, reason
from predtui.files import LARGEST_CORPUS, read_text, resolve
from predtui.models.shipped import asset
from predtui.runtime.bus import admit
from predtui.runtime.typing import Rhythm, Typed, paused, read
from predtui.state.events import Event, Message, Transcript, TurnStarted
from predtui.state.reducer import reduce
from predtui.state.turn import Turn

CHARACTERS_A_WORD = 5
CHARACTERS_A_MINUTE = 120.0 * CHARACTERS_A_WORD
"""120 words a minute (PredGen, section 3)."""
POCKET, EVERYDAY = "pocket", "everyday"
_DAY_S = 86_400

Right = Callable[[str], bool]
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Stream:
    """One turn of a user: each ``(seconds, text)`` is all that was understood by then, the last one final.
    ``right`` tells whether a reply answers it; None where no answer is known. The last word of a partial may not be
    whole yet, and is held back where it ends in a letter (see ``line.read``)."""

    partials: tuple[tuple[float, str], ...]
    right: Right | None = None
    delay: float = 0.0
    """Seconds between keys, of one that is typed."""

    @property
    def text(self) -> str:
        return self.partials[-1][1].strip()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Turns that are asked one after another, on top of a ``history`` that is given."""

    turns: tuple[Stream, ...]
    history: tuple[Message, ...] = ()


def typed(text: str, rate: float = CHARACTERS_A_MINUTE, right: Right | None = None) -> Stream:
    """``text`` at ``rate`` characters a minute, a key a character; the key that ends the input takes as long as any
    other."""
    text = text.strip()
    keys = [(count * 60 / rate, text[:count]) for count in range(1, len(text) + 1)]
    return Stream((*keys, ((len(text) + 1) * 60 / rate, text)), right, 60 / rate)


def dialogues(
    source: str,
    limit: int,
    seed: int,
    rate: float = CHARACTERS_A_MINUTE,
    recording: Path | None = None,
    together: int = 1,
) -> list[Dialogue]:
    """Recorded ones, where there is a ``recording``; else those of the corpus for ``pocket``, the shipped questions for
    ``everyday``, or those of the file ``source``. ``together``: so many of them become one conversation, one after
    another. Raises PredtuiError where that leaves nothing."""
    if recording is not None:
        found = recorded(recording, limit)
    elif source == POCKET:
        found = pocket(limit, seed, rate)
    else:
        path = asset("prompts", "everyday.txt") if source == EVERYDAY else resolve(source)
        found = prompts(path, limit, rate)
    found = [_joined(found[start : start + together]) for start in range(0, len(found), together)]
    if not found:
        raise PredtuiError("There is nothing to say.", "Give a file with prompts, or a --limit above 0.")
    return found


def _joined(parts: Sequence[Dialogue]) -> Dialogue:
    """One after another, on top of what stands before the first."""
    return Dialogue(tuple(turn for part in parts for turn in part.turns), parts[0].history)


def pocket(limit: int, seed: int, rate: float = CHARACTERS_A_MINUTE) -> list[Dialogue]:
    """``limit`` held-out dialogues of the pocket corpus, a quarter of them with several turns, the last of which is
    judged by the corpus's oracle."""
    from predtui.lab.training.corpus import compose, oracle

    dialogues = []
    for example in compose.heldout("slots", limit, seed):
        *before, last = [message.content for message in example.messages if message.role == "user"]
        turns = (*(typed(text, rate) for text in before), typed(last, rate, partial(oracle.right, example)))
        dialogues.append(Dialogue(turns))
    return dialogues


def prompts(path: Path, limit: int, rate: float = CHARACTERS_A_MINUTE) -> list[Dialogue]:
    """The first ``limit`` (0: all) lines of a file with a prompt each; of one that ends in .jsonl, with
    ``{"turns": [..]}`` or ``{"prompt": ..}`` each.

    A ``reference`` (one answer a turn, or a single one) lets the last number in a reply, or else its text, be
    compared. Raises PredtuiError with file and line.
    """
    lines = [(n, line) for n, line in enumerate(_read(path).splitlines(), 1) if line.strip()]
    if path.suffix != ".jsonl":
        return [Dialogue((typed(line, rate),)) for _, line in lines[: limit or None]]
    return [_dialogue(line, rate, f"{path}, line {n}") for n, line in lines[: limit or None]]


def recorded(path: Path, limit: int) -> list[Dialogue]:
    """The first ``limit`` (0: all) streams of a JSON file ``{prompt: [[partial, seconds], ..]}``: what a recogniser
    took each prompt for, as time went by. Raises PredtuiError for another form."""
    try:
        content = json.loads(_read(path))
        streams = {prompt: [_partial(*partial) for partial in partials] for prompt, partials in content.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise PredtuiError(f"{path} is not {{prompt: [[partial, seconds], ..]}}: {error}.") from error
    for prompt, partials in streams.items():
        times = [seconds for seconds, _ in partials]
        if not partials or times != sorted(times):
            raise PredtuiError(f"{path}: the stream of {prompt!r} is empty, or its time goes backwards.")
    chosen = [*streams.values()][: limit or None]
    return [Dialogue((Stream(tuple(partials)),)) for partials in chosen]


def _partial(text: Any, seconds: Any) -> tuple[float, str]:
    """Raises ValueError for what is no text, or no time on a clock."""
    if not isinstance(text, str) or type(seconds) not in (int, float) or not 0 <= seconds < _DAY_S:
        raise ValueError(f"[{text!r}, {seconds!r}] is not a text and a number of seconds")
    return float(seconds), text


def events(stream: Stream, history: Sequence[Message], speculates: bool = True, pause_s: float = 0.0) -> list[Event]:
    """The stream as the "llm" stage receives it, times in seconds from its beginning; without speculation, of all the
    transcripts the final one only. Numbered and sifted as in the app: what leaves the prompt as it was is no new
    revision, and a pause of ``pause_s`` (0: none), longer where keys come slowly, makes the unfinished word count."""
    started = TurnStarted(turn=1, history=tuple(history))
    turn = reduce(Turn(), started)
    sifted: list[Event] = [started]
    for event in (
        _paused(_transcripts(stream), pause_s, bool(stream.delay)) if speculates else [*_transcripts(stream)][-1:]
    ):
        admitted = admit(turn, event)
        if admitted is not None:
            sifted.append(admitted)
            turn = reduce(turn, admitted)
    return sifted


def _transcripts(stream: Stream) -> Iterator[Transcript]:
    last = len(stream.partials) - 1
    for index, (seconds, text) in enumerate(stream.partials):
        yield replace(read(Typed(text, final=index == last, time=seconds)), turn=1)


def _paused(heard: Iterator[Transcript], pause_s: float, typed: bool) -> Iterator[Transcript]:
    """``heard`` with what is anticipated wherever nothing comes for so long."""
    rhythm = Rhythm(pause_s)
    for event, following in itertools.pairwise([*heard, None]):
        if event is None:
            return
        yield event
        pause = rhythm.pause(event.time) if typed else pause_s
        whole = paused(event) if pause else None
        if whole is not None and following is not None and following.time > event.time + pause:
            yield replace(whole, time=event.time + pause)


def _dialogue(line: str, rate: float, where: str) -> Dialogue:
    try:
        content = json.loads(line)
        turns = content["turns"] if "turns" in content else [content["prompt"]]
    except (ValueError, TypeError, KeyError) as error:
        raise PredtuiError(f'{where}: neither {{"turns": [..]}} nor {{"prompt": ..}}.') from error
    if not (isinstance(turns, list) and turns and all(isinstance(turn, str) and turn.strip() for turn in turns)):
        raise PredtuiError(f"{where}: turns must be texts, at least one, none of them empty.")
    references = _references(content.get("reference"), len(turns))
    return Dialogue(tuple(typed(text, rate, right) for text, right in zip(turns, references, strict=True)))


def _references(given: Any, count: int) -> list[Right | None]:
    answers = given if isinstance(given, list) else [given]
    padded = [*answers, *[None] * count][:count]
    return [None if answer is None else partial(answers_as, str(answer)) for answer in padded]


def answers_as(reference: str, reply: str) -> bool:
    """Whether the last number of ``reply`` is the last one of ``reference``; without numbers in the reference, whether
    its words stand in the reply."""
    wanted, given = _NUMBER.findall(reference), _NUMBER.findall(reply)
    if wanted:
        return bool(given) and _value(given[-1]) == _value(wanted[-1])
    return f" {_plain(reference)} " in f" {_plain(reply)} "


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _read(path: Path) -> str:
    try:
        return read_text(path, LARGEST_CORPUS)
    except (OSError, ValueError) as error:
        raise PredtuiError(f"{path} cannot be read: {reason(error)}.") from error
