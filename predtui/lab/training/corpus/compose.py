"""Examples of the pocket corpus: dialogues composed of intents, and the held-out ones to measure with.

    from random import Random
    example = sample(Random(0))              # training: replies, truncated prompts, judgements
    examples = heldout("frames", 500, seed=1)  # templates never seen in training

Every draw is a function of the random generator alone. Knows nothing of tokens or training.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate

from predtui.lab.training.corpus import judge
from predtui.lab.training.corpus.grammar import resolutions, resolve
from predtui.lab.training.corpus.intents import INTENTS
from predtui.lab.training.corpus.intents.dialogue import AFTER_TURN, AGAIN, OF_NOTHING, AfterTurn
from predtui.lab.training.corpus.judge import AnyIntent
from predtui.lab.training.corpus.phrasing import NoPhraseError, draw, filled, split_templates, turn, written
from predtui.lab.training.corpus.style import Style, draw_style
from predtui.lab.training.corpus.text import cut
from predtui.lab.training.corpus.text import words as words_of
from predtui.lab.training.corpus.types import Case, Example, Intent, Split
from predtui.state.events import Message

JUDGED = 0.05
TRUNCATED = 0.15
ALONE = 0.04
"""Share of small talk with nothing before or after it: what people say first, to see whether anybody is there."""
_GREETED = 0.25
"""Share of bare greetings in it."""
_GREETINGS = ("hello", "hi", "hey", "hello there", "hi there", "hey there")
_HISTORY = (0.68, 0.88, 1.0)
"""Cumulative shares of dialogues with no, one and two earlier turns."""
LONG = 0.2
"""Share of dialogues that stand at the end of a longer conversation. Their replies are all learned, so they cost
nothing; without them a model that was right on 96 % of first questions was right on 29 % after seven turns."""
LONGEST = 12
"""The most dialogues that stand before such a one: up to some twenty turns, ten on average."""
_FIRST, _SECOND = 0.60, 0.85
"""Cumulative shares of judgements with nothing, and with one dialogue, before them."""
_FOLLOWS, _SPEAKS_OF = 0.25, 0.60
"""With a turn before: cumulative shares of follow-ups of its intent and of requests about its reply."""

_GROUPS = {intent.name: intent.group or intent.name for intent in INTENTS}


class _Mixture:
    """Those intents that are ``wanted``; drawn by their shares among themselves."""

    def __init__(self, wanted: Callable[[Intent], bool] = lambda intent: True) -> None:
        self.intents = tuple(filter(wanted, INTENTS))
        self._weights = list(accumulate(intent.weight for intent in self.intents))

    def __call__(self, rng: random.Random) -> Intent:
        return rng.choices(self.intents, cum_weights=self._weights)[0]


any_intent = _Mixture()
"""An intent by its share in the mixture."""
_any_later = _Mixture(lambda intent: intent not in OF_NOTHING)
"""An intent that a conversation may go on with."""
_any_followed = _Mixture(lambda intent: bool(intent.phrases.followup))
_any_talk = _Mixture(lambda intent: intent.name.startswith("talk_"))
_any_chatter = _Mixture(lambda intent: _GROUPS[intent.name] in {"smalltalk", "unknown"})
"""Small talk, or what cannot be answered: wordings by the thousand, of which none is like another."""
_any_computed = _Mixture(lambda intent: _GROUPS[intent.name] in {"arithmetic", "conversion", "clock", "calendar"})
"""An intent whose replies are worked out: what a model learns best by itself first."""
_any_errand = _Mixture(lambda intent: _GROUPS[intent.name] == "assistant")
"""A timer, a reminder or an entry of a list: the reply quotes what was asked."""
_HELLO = next(intent for intent in INTENTS if intent.name == "talk_hello")


@dataclass(frozen=True, slots=True)
class _Said:
    """One turn: what the user said, what the answer is, and what it was made of."""

    prompt: str
    case: Case
    intent: str
    template: str


def group(intent: str) -> str:
    """The line of the evaluation that an example's intent counts under."""
    return _GROUPS.get(intent, "followups")


def _ask(intent: Intent, split: Split, style: Style, rng: random.Random, followup: bool = False) -> _Said:
    case, asked = draw(intent, split, rng, followup)
    prompt = written(filled(asked, case), asked.mark, case, style, rng)
    return _Said(prompt, case, intent.name, asked.template.name)


@cache
def as_intent(request: AfterTurn) -> Intent:
    return Intent(f"{request.name}_of_reply", request.phrases, lambda rng: Case({}, ""), group="followups")


def _speak_of(before: _Said, split: Split, style: Style, rng: random.Random) -> _Said:
    stated = (before.case.key or before.case.short) and group(before.intent) != "unknown"
    request = rng.choice(AFTER_TURN) if stated else AGAIN
    intent = as_intent(request)
    asked = turn(intent, Case({}, ""), split, rng)
    case = Case(before.case.slots, request.answer(before.case))
    return _Said(written(asked.wording, asked.mark, case, style, rng), case, intent.name, asked.template.name)


def _fresh(pick: AnyIntent, split: Split, style: Style, rng: random.Random, begun: bool) -> _Said:
    """A request that needs no turn before it; where a conversation has ``begun``, none that needs that it has not."""
    while True:
        intent = pick(rng)
        if begun and intent in OF_NOTHING:
            continue
        try:
            return _ask(intent, split, style, rng)
        except NoPhraseError:
            continue


def _turns(pick: AnyIntent, split: Split, style: Style, rng: random.Random, begun: bool = False) -> list[_Said]:
    """The turns of a dialogue; only the last one is of ``split``, those before are seen ones."""
    at = rng.random()
    earlier: list[_Said] = []
    for share in _HISTORY[:-1]:
        if at >= share:
            earlier.append(_fresh(pick, "train", style, rng, begun or bool(earlier)))
    kind = rng.random()
    if earlier and kind < _FOLLOWS:
        intent = _any_followed(rng)
        if _has_followups(intent, split):
            earlier[-1] = _ask(intent, "train", style, rng)
            return [*earlier, _ask(intent, split, style, rng, followup=True)]
    elif earlier and kind < _SPEAKS_OF and split != "slots":
        return [*earlier, _speak_of(earlier[-1], split, style, rng)]
    return [*earlier, _fresh(pick, split, style, rng, begun or bool(earlier))]


def _conversation(pick: AnyIntent, split: Split, style: Style, rng: random.Random, dialogues: int) -> list[_Said]:
    """``dialogues`` seen ones after each other, then one of ``split``."""
    said: list[_Said] = []
    for _ in range(dialogues):
        said += _turns(pick, "train", style, rng, begun=bool(said))
    return said + _turns(pick, split, style, rng, begun=bool(said))


def _has_followups(intent: Intent, split: Split) -> bool:
    found = split_templates(intent.name, intent.phrases)
    return bool(found.held_out_followups) if split == "frames" else split == "train"


def _messages(said: list[_Said], last_prompt: str) -> tuple[Message, ...]:
    prompts = [*(one.prompt for one in said[:-1]), last_prompt]
    pairs = zip(prompts, (one.case.reply for one in said), strict=True)
    return tuple(m for prompt, reply in pairs for m in (Message("user", prompt), Message("assistant", reply)))


@cache
def _sayings() -> frozenset[str]:
    """All small talk that training shows, as it is compared: these few words have an answer of their own."""
    seen = {one.text for intent in _any_talk.intents for one in split_templates(intent.name, intent.phrases).seen}
    return frozenset({*_GREETINGS, *(text.lower() for one in seen for text in resolutions(one))})


def _broken_off(prompt: str, rng: random.Random) -> str:
    """The first words of ``prompt``, at least one (PredGen, appendix A.4.1); more where these alone would be small
    talk: "help" asks for help, and is not the beginning of just anything."""
    length = prompt.count(" ") + 1
    words = max(1, rng.randint(0, length))
    while words < length and " ".join(words_of(cut(prompt, words))) in _sayings():
        words += 1
    return cut(prompt, words)


def _alone(rng: random.Random) -> Example:
    if rng.random() < _GREETED:
        intent, wording = _HELLO, rng.choice(_GREETINGS)
    else:
        intent = _any_talk(rng)
        wording = resolve(rng.choice(split_templates(intent.name, intent.phrases).seen).text, rng)
    case = intent.draw(rng)
    return Example(
        messages=(
            Message("user", written(wording, rng.choice(".!?"), case, draw_style(rng), rng)),
            Message("assistant", case.reply),
        ),
        intent=intent.name,
        split="train",
        key=case.key,
        template="alone",
        slots=case.slots,
    )


def _dialogue(
    split: Split, rng: random.Random, truncate: bool, pick: AnyIntent = any_intent, before: int = 0
) -> Example:
    return _example(_conversation(pick, split, draw_style(rng), rng, before), split, truncate, rng)


def _example(said: list[_Said], split: Split, truncate: bool, rng: random.Random) -> Example:
    last = said[-1]
    prompt = _broken_off(last.prompt, rng) if truncate else last.prompt
    return Example(
        messages=_messages(said, prompt),
        intent=last.intent,
        split=split,
        kind="truncated" if truncate else "reply",
        key=last.case.key,
        template=last.template,
        learn_all=len(said) > 1,
        slots=last.case.slots,
        also=last.case.also,
    )


def sample(rng: random.Random) -> Example:
    """One training example of the mixture: 5 % judgements, 4 % small talk alone; of the rest, 15 % truncated, 32 % with
    one or two earlier turns, 20 % at the end of a longer conversation."""
    if rng.random() < JUDGED:
        return sample_judged(rng)
    if rng.random() < ALONE:
        return _alone(rng)
    before = rng.randint(1, LONGEST) if rng.random() < LONG else 0
    return _dialogue("train", rng, truncate=rng.random() < TRUNCATED, before=before)


def judged(split: Split, rng: random.Random, before: int = 0) -> Example:
    """A judgement about a turn of ``split``, at the end of a conversation of ``before`` seen dialogues."""
    said: list[_Said] = []
    style = draw_style(rng)
    for _ in range(before):
        said += _turns(any_intent, "train", style, rng, begun=bool(said))
    example = judge.judgement(_any_later if said else any_intent, split, rng)
    earlier = _messages(said, said[-1].prompt) if said else ()
    return replace(example, messages=(*earlier, *example.messages))


def sample_judged(rng: random.Random) -> Example:
    """A judgement to train with; 40 % of them at the end of a conversation, as the verifier asks them."""
    at = rng.random()
    return judged("train", rng, before=0 if at < _FIRST else 1 if at < _SECOND else rng.randint(2, LONGEST // 2))


def sample_computed(rng: random.Random) -> Example:
    """A training example like those of ``sample`` whose reply is worked out; never a judgement."""
    return _dialogue("train", rng, truncate=rng.random() < TRUNCATED, pick=_any_computed)


def sample_chatter(rng: random.Random) -> Example:
    """A training example like those of ``sample`` that is small talk or cannot be answered; never a judgement."""
    return _dialogue("train", rng, truncate=rng.random() < TRUNCATED, pick=_any_chatter)


def sample_asked_about(rng: random.Random) -> Example:
    """A training example that ends in a request about the reply before it: shorter, again, are you sure, why."""
    style = draw_style(rng)
    said = _turns(any_intent, "train", style, rng)
    said.append(_speak_of(said[-1], "train", style, rng))
    return _example(said, "train", truncate=False, rng=rng)


def sample_errand(rng: random.Random) -> Example:
    """A training example like those of ``sample`` whose reply quotes its prompt; never cut short, never a judgement."""
    return _dialogue("train", rng, truncate=False, pick=_any_errand)


def heldout(split: Split, n: int, seed: int) -> list[Example]:
    """``n`` whole (never truncated) dialogues whose last turn is of ``split``, a function of ``seed``."""
    rng = random.Random(f"heldout {split} {seed}")
    return [_dialogue(split, rng, truncate=False) for _ in range(n)]


def judgements(n: int, seed: int) -> list[Example]:
    """``n`` judgements over pairs of template and slots that training never shows, a function of ``seed``."""
    rng = random.Random(f"judgements {seed}")
    return [judged("slots", rng) for _ in range(n)]


def judgements_in_conversations(n: int, seed: int) -> list[Example]:
    """The like at the end of conversations of one to ``LONGEST`` dialogues."""
    rng = random.Random(f"judgements in conversations {seed}")
    return [judged("slots", rng, before=rng.randint(1, LONGEST)) for _ in range(n)]


def conversations(n: int, seed: int) -> list[Example]:
    """``n`` held-out dialogues like those of ``heldout("slots", ...)`` at the end of longer conversations."""
    rng = random.Random(f"conversations {seed}")
    return [_dialogue("slots", rng, truncate=False, before=rng.randint(1, LONGEST)) for _ in range(n)]
