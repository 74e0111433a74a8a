"""SWIFT (Xia et al. 2024): the target drafts without the layers that it can do without, which it finds as it replies.

While replies are decoded, sets of layers to skip are tried, each a small change of the best one so far: would the part
have said the last replies, in one forward over each? The set that promises the most tokens for the layers they take is
kept, until changes no longer help. A draft ends where the part doubts it. Where the paper does otherwise: layers are
skipped whole, in runs, by local search alone, and as many as pay; the last one may be among them; a part has a cache of
its own, which reads the prompt too; drafts do not branch. Nothing is tried during the first reply, and trying takes a
share of the time at most. Must not know of verification.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from predtui.decoding.base import Drafter, Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.model import ModelDrafter
from predtui.decoding.part_draft import Replies, Text, Worth, kept, worth
from predtui.decoding.parts import Parts
from predtui.llm.base import LanguageModel
from predtui.llm.layers import LayeredModel, has_layers

NAME = "swift"
SHARE = 0.1
"""Of the time of forwards that tries may take."""
PATIENCE = 24
"""Tries in a row that are no better until the search ends, or twice as many as there are layers."""
DEAR = 2.0
"""Seconds of a try that is the last: somebody waits."""
TEXTS, LEAST = 5, 48
"""Replies by which a part is judged, and the fewest tokens that they have together."""
PAYS = 1.1
"""Tokens in the time of a forward that a part has to promise: some of it goes for reading prompts."""
NOTHING = Worth(1.0, 0)
Skipped = frozenset[int]


class Search:
    """Which layers to skip, by what those that were tried are worth."""

    def __init__(self, layers: int, seed: int = 0) -> None:
        self.best: Skipped = frozenset()
        self.over = layers < 2
        self._layers, self._random, self._tried, self._vain = layers, random.Random(seed), {self.best}, 0

    def next(self) -> Skipped:
        """A change of the best that was not tried. Not to be asked once the search is over."""
        return self._random.choice(list(self._changes()))

    def judged(self, skipped: Skipped, better: bool) -> None:
        """A set was tried, and is ``better`` than the best, or not."""
        self._tried.add(skipped)
        self._vain += 1
        if better:
            self.best, self._vain = skipped, 0
        self.over = self._vain >= max(PATIENCE, 2 * self._layers) or not any(True for _ in self._changes())

    def _changes(self) -> Iterator[Skipped]:
        """The best with a run of layers skipped as well, or no longer; the first layer stays."""
        for length in range(1, self._layers // 2 + 1):
            for start in range(1, self._layers - length + 1):
                run = frozenset(range(start, start + length))
                changed = self.best - run if run <= self.best else self.best | run
                if changed not in self._tried:
                    yield changed


class SwiftDrafter:
    """Has nothing to propose until a set of layers is found that promises to pay."""

    def __init__(
        self, model: LayeredModel, sampler: Sampler, is_end: Callable[[int], bool], instrument: Instrument
    ) -> None:
        """``is_end``: after which tokens a draft ends; ``instrument``: what measures the model's forwards."""
        self._layers = model.abilities.layers
        self.search = Search(self._layers)
        self._model, self._sampler, self._is_end, self._instrument = model, sampler, is_end, instrument
        self._part: LanguageModel | None = None
        self._replies = Replies(sampler)
        self._texts: deque[Text] = deque(maxlen=TEXTS)
        """Replies by which parts are judged."""
        self._told: dict[Text, list[float]] = {}
        """What would have been accepted of the best part in those that it was asked about, and what it promises."""
        self._promised = NOTHING
        self._worked = self._spent = 0.0
        """Seconds of the target's forwards, and of tries."""

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        """Nothing while no part is worth its time."""
        if self._part is None or self._promised.speed < PAYS:
            return Draft((), source=NAME)
        drafter = ModelDrafter(self._part, self._sampler, self._is_end, source=NAME)
        return drafter.propose(context, min(budget, self._promised.length), position)

    def observe(self, verification: Verification) -> None:
        """After a forward there may be time to try something."""
        self._replies.heard(verification)
        self._worked += self._instrument.seconds
        enough = sum(text.said for text in self._texts) >= LEAST
        if enough and not self.search.over and self._spent <= SHARE * self._worked:
            start = self._instrument.now()
            self._try()
            took = self._instrument.now() - start
            self._spent += took
            self.search.over = self.search.over or took > DEAR

    def reset(self) -> None:
        """What was found stays."""
        if text := self._replies.begins():
            self._texts.append(text)
            self._told = {text: told for text, told in self._told.items() if text in self._texts}

    def _try(self) -> None:
        """One set of layers, by the replies before this one; no more of them than show that it is no better."""
        skipped = self.search.next()
        part = self._model.part([layer for layer in range(self._layers) if layer not in skipped])
        try:
            told, better = self._judged(part, skipped)
        except BaseException:
            part.close()
            raise
        self.search.judged(skipped, better)
        if better:
            self._told, self._part, part = told, part, self._part
        self._promised = self._worth(self.search.best, self._told.values())
        if part is not None:
            part.close()

    def _judged(self, part: LanguageModel, skipped: Skipped) -> tuple[dict[Text, list[float]], bool]:
        """What would be accepted of ``part``, and whether it is better than the best."""
        told, better = dict[Text, list[float]](), True
        for text in reversed(self._texts):
            told[text] = kept(part, text)
            if self._part is not None and text not in self._told:
                self._told[text] = kept(self._part, text)
            before = [self._told.get(text, []) for text in told]
            better = self._worth(skipped, told.values()).speed > self._worth(self.search.best, before).speed
            if not better:
                break
        return told, better

    def _worth(self, skipped: Skipped, told: Iterable[Sequence[float]]) -> Worth:
        """Of a part without these layers, by the chances of tokens of some texts to be accepted if it drafted them."""
        each = [chance for text in told for chance in text]
        return worth((sum(each) + 1) / (len(each) + 2), 1 - len(skipped) / self._layers) if skipped else NOTHING


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError where two parts have no room: the best one, and one that is tried."""
    target = parts.target
    assert has_layers(target.model), "assembly has seen to it"
    parts.memory.fixed("What swift drafts with", 2 * target.model.part_bytes(range(target.abilities.layers)))
    return SwiftDrafter(target.model, parts.sampler, target.tokenizer.is_end, parts.instrument)
