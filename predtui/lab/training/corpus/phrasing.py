"""One user turn: a template of an intent, a case, the frame around them, and which of these are held out.

A template is held out whole by its text (the same for every intent that shares it); a pair of template and slot
values is held out by its hash. Both choices are stable from run to run. Knows nothing of dialogues.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from zlib import crc32

from predtui.lab.training.corpus.frames import Form, frame
from predtui.lab.training.corpus.grammar import digest, fill, resolutions, resolve, slot_names
from predtui.lab.training.corpus.style import Style, render
from predtui.lab.training.corpus.types import Case, Intent, Phrases, Split
from predtui.lab.training.corpus.variation import vary

HELD_OUT_PAIRS = 0.03
_ENOUGH = 10
_FORMS: tuple[tuple[Form, int], ...] = (("noun", 2), ("question", 1), ("clause", 1), ("command", 1))


class NoPhraseError(ValueError):
    """The intent has no template for this case in this split."""


@dataclass(frozen=True, slots=True)
class Template:
    """A template with its stable name, the form it takes openers for, and its slots."""

    name: str
    form: Form
    text: str
    slots: frozenset[str]


@dataclass(frozen=True, slots=True)
class TemplateSplit:
    """The templates of an intent by use. Seen ones are listed as often as their form weighs."""

    seen: tuple[Template, ...]
    held_out: tuple[Template, ...]
    followups: tuple[Template, ...]
    held_out_followups: tuple[Template, ...]


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What a user says, before it is written down: the wording with open slots, its mark and its template."""

    wording: str
    mark: str
    template: Template


def _held_out(texts: list[str]) -> frozenset[str]:
    """Two templates, or one in twelve if that is more, where there are ten; none where there are fewer."""
    distinct = sorted(set(texts), key=digest)
    return frozenset(distinct[: max(2, len(distinct) // 12)] if len(distinct) >= _ENOUGH else ())


@cache
def split_templates(name: str, phrases: Phrases) -> TemplateSplit:
    """The templates of the intent ``name``, sorted into seen and held out."""

    def templates(form: Form, texts: tuple[str, ...]) -> list[Template]:
        return [Template(f"{name}/{form}/{digest(text)}", form, text, slot_names(text)) for text in texts]

    openings = [(t, weight) for form, weight in _FORMS for t in templates(form, getattr(phrases, form))]
    followups = templates("followup", phrases.followup)
    hidden = _held_out([t.text for t, _ in openings])
    hidden_followups = _held_out([t.text for t in followups])
    return TemplateSplit(
        seen=tuple(t for t, weight in openings for _ in range(weight) if t.text not in hidden),
        held_out=tuple(t for t, _ in openings if t.text in hidden),
        followups=tuple(t for t in followups if t.text not in hidden_followups),
        held_out_followups=tuple(t for t in followups if t.text in hidden_followups),
    )


@cache
def hidden_wordings(name: str, phrases: Phrases) -> frozenset[str]:
    """Everything that the held-out templates of the intent ``name`` say, in lower case."""
    found = split_templates(name, phrases)
    hidden = (*found.held_out, *found.held_out_followups)
    return frozenset(wording.lower() for template in hidden for wording in resolutions(template.text))


def pair_held_out(template: Template, case: Case) -> bool:
    """Whether this template with these slot values is kept out of training."""
    if not template.slots:
        return False
    values = "|".join(case.slots[slot] for slot in sorted(template.slots))
    return crc32(f"{template.name}|{values}".encode()) % 1000 < 1000 * HELD_OUT_PAIRS


def _pick(pool: tuple[Template, ...], case: Case, split: Split, rng: random.Random) -> Template:
    wanted = split == "slots"
    for _ in range(40):
        if not pool:
            break
        template = rng.choice(pool)
        if template.slots <= case.slots.keys() and (split == "frames" or pair_held_out(template, case) == wanted):
            return template
    raise NoPhraseError(split)


def turn(intent: Intent, case: Case, split: Split, rng: random.Random, followup: bool = False) -> UserTurn:
    """A way to ask for ``case``; what training shows is varied, but to nothing that is held out. Raises NoPhraseError
    where the split has none."""
    found = split_templates(intent.name, intent.phrases)
    if split == "frames":
        pool = found.held_out_followups if followup else found.held_out
    else:
        pool = found.followups if followup else found.seen
    while True:
        template = _pick(pool, case, split, rng)
        wording = resolve(template.text, rng)
        if split == "train":
            wording = vary(wording, rng)
        if split == "frames" or wording.lower() not in hidden_wordings(intent.name, intent.phrases):
            break
    wording, mark = frame(template.form, wording, rng)
    return UserTurn(wording, mark, template)


def filled(asked: UserTurn, case: Case) -> str:
    """The wording with the slots of ``case`` in it, in ordinary spelling and without its final mark."""
    return fill(asked.wording, case.slots)


def written(text: str, mark: str, case: Case, style: Style, rng: random.Random) -> str:
    """``text`` as ``style`` writes it; words of the slots are never mistyped."""
    slots = frozenset(" ".join(case.slots.values()).lower().split()) if style == "typed" else frozenset()
    return render(text, mark, style, rng, slots)


def draw(intent: Intent, split: Split, rng: random.Random, followup: bool = False) -> tuple[Case, UserTurn]:
    """A case of the intent and a way to ask for it. Raises NoPhraseError where the split has none."""
    for _ in range(8):
        case = intent.draw(rng)
        try:
            return case, turn(intent, case, split, rng, followup)
        except NoPhraseError:
            continue
    raise NoPhraseError(f"{intent.name} has no phrase for the split {split}")
