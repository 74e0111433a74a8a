"""What became of every prompt that ``predtui bench chaos`` has put in: answered right, refused for a reason, or wrong.

Reads events only. Must not know how prompts were put in, nor what was done meanwhile.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy
from predtui.lab.bench.chaos_app import Told
from predtui.llm.load import load
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.prompts import system_prompt
from predtui.predgen.window import Window
from predtui.state import events as ev
from predtui.words import joined

WHOLE, ALIKE = 0.85, 0.4
"""What was recognised under faults is so long, and shares so much of its letters, beside what is recognised without:
one may be misheard otherwise than the other, of which nothing is lost."""

WITHIN_S = 5.0
"""The talk key shows what it does, or why not."""
_APART_S = 0.05
"""Between the clocks of what is put in and of what happens."""


@dataclass(slots=True)
class Asked:
    """A prompt as it was put in at ``time`` (monotonic seconds): its words, or of a spoken one the ``sound`` file."""

    step: int
    time: float
    way: str
    text: str
    sound: str = ""
    faults: list[str] = field(default_factory=list)
    became: str = ""
    """"answered", or why not."""


@dataclass(frozen=True, slots=True)
class Violation:
    """What must not be, and in which step: with the seed of the run, enough to see it again."""

    step: int
    what: str


@dataclass(slots=True)
class Happened:
    """One turn, out of its events."""

    number: int
    source: str
    time: float
    history: tuple[ev.Message, ...]
    final: str = ""
    ended: bool = False
    reply: ev.ReplyFinished | None = None
    sentences: list[str] = field(default_factory=list)
    interrupts: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    played: list[int] = field(default_factory=list)

    def take(self, event: ev.Event) -> None:
        match event:
            case ev.Transcript(final=True):
                self.final, self.ended = event.text, True
            case ev.ReplyCommitted():
                self.sentences.append(event.text)
            case ev.ReplyFinished():
                self.reply = event
            case ev.Interrupt():
                self.interrupts.append(event.reason)
            case ev.Notice(severity="warning" | "error") | ev.Notice(text="Heard nothing."):
                self.notices.append(event.text)
            case ev.Playback():
                self.played.append(event.index)

    @property
    def text(self) -> str:
        """What of the reply was committed."""
        whole = self.reply is not None and self.reply.reason != "interrupted"
        return (self.reply.text if self.reply and whole else joined(self.sentences)).strip()

    @property
    def became(self) -> str:
        """ "answered", why not, or nothing where nobody was told."""
        if self.reply and self.reply.reason != "interrupted" and self.reply.text.strip():
            return "answered"
        if self.interrupts:
            return f"interrupted: {self.interrupts[-1]}"
        return f"refused: {_kind(self.notices[-1])}" if self.notices else ""


def turns(told: Iterable[Told]) -> list[Happened]:
    """In order."""
    found: dict[int, Happened] = {}
    for each in told:
        event = each.event
        if isinstance(event, ev.TurnStarted):
            found[event.turn] = Happened(event.turn, event.source, each.time, event.history)
        elif event.turn in found:
            found[event.turn].take(event)
    return list(found.values())


def refusals(told: Iterable[Told]) -> list[float]:
    """When the screen said why it does not listen."""
    return [
        each.time for each in told if isinstance(each.event, ev.Notice) and each.event.text.startswith("Cannot listen")
    ]


def accounts(
    asked: Sequence[Asked],
    happened: Sequence[Happened],
    heard: dict[str, set[str]],
    refused: Sequence[float] = (),
) -> list[Violation]:
    """Tells each prompt what became of it; what must not be. ``heard``: what is recognised of a sound without faults,
    maybe in several ways; ``refused``: when the screen said why it does not listen."""
    faulty: list[Violation] = []
    typed = [turn for turn in happened if turn.source == "typed" and turn.final.strip()]
    voice = [turn for turn in happened if turn.source == "voice"]
    for prompt, following in zip_longest(asked, asked[1:]):
        if prompt.sound:
            until = min(prompt.time + WITHIN_S, following.time if following else math.inf)
            begun = [turn for turn in voice if prompt.time <= turn.time + _APART_S < until]
            refusal = any(prompt.time <= time <= prompt.time + WITHIN_S for time in refused)
            faulty += _spoken(prompt, begun[0] if begun else None, heard.get(prompt.sound, set()), refusal)
        elif turn := _taken(" ".join(prompt.text.split()), typed):
            prompt.became = turn.became
            if not turn.became:
                faulty.append(Violation(prompt.step, f"no reply, and no reason: {prompt.text!r}"))
        else:
            prompt.became = "lost"
            faulty.append(Violation(prompt.step, f"lost: {prompt.text!r}; next came {_next(typed)!r}"))
    faulty += [Violation(_step(asked, turn.time), f"nobody asked {turn.final!r}") for turn in typed]
    for turn in happened:
        if turn.played != sorted(turn.played) or any(at >= len(turn.sentences) for at in turn.played):
            what = f"spoken {turn.played} of {len(turn.sentences)} committed sentences"
            faulty.append(Violation(_step(asked, turn.time), what))
    return faulty


def _taken(text: str, left: list[Happened]) -> Happened | None:
    """The first of them that has the prompt, taken out."""
    turn = next((turn for turn in left if turn.final == text), None)
    if turn:
        left.remove(turn)
    return turn


def _spoken(prompt: Asked, turn: Happened | None, heard: set[str], refused: bool) -> list[Violation]:
    if turn is None:
        prompt.became = "not listened to"
        return [] if refused else [Violation(prompt.step, "not listened to, and no reason")]
    prompt.became = turn.became or ("interrupted" if not turn.ended else "")
    if not turn.ended or not turn.final:
        return [] if prompt.became else [Violation(prompt.step, "nothing became of what was said")]
    if turn.became == "answered" and heard and not any(_as_said(turn.final, one) for one in heard):
        return [Violation(prompt.step, f"answered {turn.final!r} where {min(heard)!r} was said")]
    return [] if prompt.became else [Violation(prompt.step, f"no reply, and no reason: {turn.final!r}")]


def unequal(happened: Sequence[Happened], options: SpeculationOptions) -> list[tuple[Happened, str]]:
    """The turns whose reply, as far as it goes, is not plain greedy decoding's, and what that is. Loads the model."""
    loaded = load(options.model, options.engine, options.threads or None, options.context, weights=options.weights)
    window = Window(loaded, options.system or system_prompt(loaded.parameters), options.reply_tokens)
    found: list[tuple[Happened, str]] = []
    for turn in happened:
        if not turn.text:
            continue
        prompt = window.tokens(turn.history, turn.final)
        limit = min(options.reply_tokens, loaded.model.context_size - len(prompt))
        tokens = list(generate(loaded.model, prompt, Greedy(), limit, loaded.tokenizer.is_end))
        plain = loaded.tokenizer.decode([token for token in tokens if not loaded.tokenizer.is_end(token)]).strip()
        if not (turn.text == plain if turn.became == "answered" else plain.startswith(turn.text)):
            found.append((turn, plain))
    loaded.model.close()
    return found


def step_of(asked: Sequence[Asked], turn: Happened) -> int:
    """The step in which a turn began."""
    return _step(asked, turn.time)


def _step(asked: Sequence[Asked], time: float) -> int:
    return max((prompt.step for prompt in asked if prompt.time <= time + _APART_S), default=0)


def _next(left: Sequence[Happened]) -> str:
    return left[0].final if left else ""


def _as_said(text: str, heard: str) -> bool:
    alike = difflib.SequenceMatcher(None, text, heard, autojunk=False).ratio()
    return alike >= ALIKE and len(text) >= WHOLE * len(heard)


def _kind(notice: str) -> str:
    """A notice without what differs from one to the next."""
    return re.sub(r"(:.*|\(.*?\)|\d+(\.\d+)?)", "", notice).strip()[:60]
