"""How models mark their thoughts, and what of a text is thought and what is answer. Must not know of tokens or of
templates.

A thought stands between two marks, before the answer; some models may have several. Models of the harmony format write
messages in channels instead: what is not in the channel "final" is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Form:
    """The marks of a family of models. ``empty``: what a prompt ends with that is to be answered at once; ``ending``:
    what ends a thought that has begun."""

    opens: tuple[str, ...]
    """Each of them begins a thought."""
    close: str
    """Behind it comes the answer."""
    empty: str
    ending: str
    others: tuple[str, ...] = ()
    """Further marks, none of which is text."""
    channels: bool = False
    """Whether a reply begins with a mark, and each mark but ``close`` ends an answer."""
    pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)
    """Any of the marks; the longest where several begin."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", _any_of(self.marks))

    @property
    def marks(self) -> tuple[str, ...]:
        return (*self.opens, self.close, *self.others)

    @property
    def atoms(self) -> tuple[str, ...]:
        """The parts of its marks that a vocabulary may hold as tokens of their own."""
        return tuple(dict.fromkeys(atom for mark in self.marks for atom in _ATOM.findall(mark)))

    def within(self, prompt: str) -> bool:
        """Whether ``prompt`` ends within a thought: a reply goes on with it, or begins with one."""
        marks = [match[0] for match in self.pattern.finditer(prompt)]
        found = [mark for mark in marks if mark not in self.others]
        return found[-1] != self.close if found else self.channels and bool(marks)

    def pending(self, text: str) -> int:
        """How many characters at the end of ``text`` may be the beginning of a mark."""
        longest = max(map(len, self.marks)) - 1
        sizes = range(min(longest, len(text)), 0, -1)
        return next((size for size in sizes if any(mark.startswith(text[-size:]) for mark in self.marks)), 0)


MARK = 32
"""Tokens of the longest mark, at most."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """How a loaded model thinks. ``within``: whether its prompts end within a thought; ``budget``: the most tokens of a
    thought, after which it is ended by force; ``closing``: what its prompts lack to be answered at once; ``tokens``:
    those of its marks that are tokens, with their text."""

    form: Form
    within: bool
    budget: int
    closing: str = ""
    tokens: tuple[tuple[int, str], ...] = ()

    @property
    def room(self) -> int:
        """The most tokens that a reply may have beside its answer; none where thinking is off: marks hardly count."""
        return self.budget and self.budget + 2 * MARK


@dataclass(frozen=True, slots=True)
class Parts:
    """A reply as far as it goes. ``thinking``: whether it ends within a thought; ``thoughts``: how many it has had."""

    thought: str = ""
    answer: str = ""
    thinking: bool = False
    thoughts: int = 0


def divide(text: str, form: Form, within: bool, ended: bool = False) -> Parts:
    """``text``, marks included, in its parts, which no mark is in. ``within``: whether it begins within a thought.

    What may become a mark is held back; of a reply that has ``ended``, what is more than its first character for good.
    """
    parts: tuple[list[str], list[str]] = ([], [])
    """Of the answer, of thoughts."""
    at, thoughts, thinking = 0, 0, within
    for match in form.pattern.finditer(text):
        parts[thinking].append(text[at : match.start()])
        at = match.end()
        if match[0] == form.close:
            thoughts, thinking = thoughts + thinking, False
        elif match[0] in form.opens or form.channels:
            thinking = True
    rest = text[at:]
    pending = form.pending(rest)
    parts[thinking].append(rest[: len(rest) - pending] if pending > ended else rest)
    answer, thought = map("".join, parts)
    return Parts(thought.strip(), answer, thinking, thoughts)


_ATOM = re.compile(r"<[^<>\s]+>|\[/?[A-Z]+\]|◁/?\w+▷")


def _any_of(marks: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(marks, key=len, reverse=True))))


def _tags(open_: str, close: str, gap: str = "", others: tuple[str, ...] = ()) -> Form:
    """A pair of marks; ``gap`` stands within them, and twice behind them."""
    return Form((open_,), close, f"{open_}{gap}{gap}{close}{gap}{gap}", f"{gap}{close}{gap}{gap}", others)


_FINAL = "<|channel|>final<|message|>"
HARMONY = Form(
    ("<|channel|>analysis<|message|>", "<|channel|>commentary<|message|>"),
    _FINAL,
    _FINAL,
    f"<|end|><|start|>assistant{_FINAL}",
    ("<|start|>assistant", "<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>"),
    channels=True,
)
"""gpt-oss. What ends a message by the model's own account (``<|return|>``, ``<|call|>``) ends the reply."""
THINK = _tags("<think>", "</think>", "\n", ("<response>", "</response>"))
"""Qwen3, QwQ, DeepSeek R1 and its distills, GLM, SmolLM3, Nemotron, EXAONE 4, Hunyuan, Granite 3.3, ..."""
FORMS = (
    HARMONY,
    Form(("<|channel>",), "<channel|>", "<|channel>thought\n<channel|>", "\n<channel|>"),
    _tags(
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        others=("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
    ),
    _tags("[THINK]", "[/THINK]"),
    _tags("<seed:think>", "</seed:think>", "\n", ("<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>")),
    THINK,
    _tags("<thought>", "</thought>", "\n"),
    _tags("◁think▷", "◁/think▷"),
    _tags("Here is my thought process:", "Here is my response:", "\n"),
)
"""gpt-oss; Gemma 4; Command A and R7B; Magistral; Seed-OSS; the most; EXAONE Deep; Kimi-VL; Granite 3.2."""
