"""A target behind a network of some seconds, whose server takes some for a token, and a draft that is often right.

All time is a virtual clock's."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

from predtui.clock import VirtualClock
from predtui.llm.abilities import Abilities
from predtui.llm.base import Counters, LoadedModel
from predtui.llm.load import load
from predtui.llm.rows import ArrayRows, PartialRow, RowList
from predtui.llm.scripted import CharacterTokenizer, ScriptedModel

TOP = 8


class FarModel:
    """A ``GeneratingModel``. ``fails``: called at each step of a request."""

    def __init__(self, seed: int, clock: VirtualClock, way: float, token: float) -> None:
        """``way``: there and back. ``token``: of the server's, and of its forward over a few."""
        self._model, self._clock, self._way, self._token = ScriptedModel(seed), clock, way, token
        self.counters, self.fails = Counters(), bool
        self.vocab_size, self.context_size = self._model.vocab_size, self._model.context_size
        self.abilities = Abilities(verifies="exact", rollback="any", top=TOP, generates=True)

    def forward(self, tokens: Sequence[int], last: int = 1) -> RowList:
        self.counters.forwards += 1
        self._took(self._way + self._token)
        rows = self._model.forward(tokens, last)
        return RowList([PartialRow([(token, row.logprob(token)) for token in row.top(TOP)]) for row in rows])

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        self.counters.forwards += 1
        self._took(self._way)
        context = list(tokens)
        for _ in range(limit):
            self._took(self._token)
            context.append(self._model.forward(context)[0].argmax())
            self.counters.generated += 1
            yield context[-1]
            if CharacterTokenizer().is_end(context[-1]):
                return

    def forget(self, keep: int = 0) -> None:
        """Nothing is remembered."""

    def close(self) -> None:
        """Nothing is open."""

    def _took(self, seconds: float) -> None:
        self._clock.advance(seconds)
        self.fails()


class Shy(CharacterTokenizer):
    """Knows an end once a server has generated one: ``said`` holds those."""

    def __init__(self) -> None:
        self.said: set[int] = set()

    def is_end(self, token: int) -> bool:
        return token in self.said


class DraftModel(ScriptedModel):
    """Says what the model ``seed`` says, but for every ``errs``-th place, at the cost of ``token`` seconds."""

    def __init__(self, seed: int, errs: int, clock: VirtualClock, token: float = 0.0) -> None:
        super().__init__(seed)
        self._other, self._errs, self._clock, self._seconds = ScriptedModel(seed + 1), errs, clock, token

    def forward(self, tokens: Sequence[int], last: int = 1) -> ArrayRows:
        assert last == 1
        self._clock.advance(self._seconds)
        wrong = self._errs and sum(tokens) % self._errs == 0
        rows = self._other.forward(tokens) if wrong else super().forward(tokens)
        return ArrayRows(rows.logits * 4)


def far(seed: int, clock: VirtualClock, way: float, token: float) -> LoadedModel:
    scripted = load(str(seed), engine="scripted")
    return replace(scripted, name="far", engine="remote", model=FarModel(seed, clock, way, token))


def shy(loaded: LoadedModel) -> LoadedModel:
    """Its ends are not known before they were streamed."""
    tokenizer, model = Shy(), loaded.model
    assert isinstance(model, FarModel)
    streamed: Callable[[Sequence[int], int], Generator[int, None, None]] = model.generate

    def generate(tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        for token in streamed(tokens, limit):
            if CharacterTokenizer().is_end(token):
                tokenizer.said.add(token)
            yield token

    model.generate = generate  # type: ignore[method-assign]
    return replace(loaded, tokenizer=tokenizer)


def near(seed: int, errs: int, clock: VirtualClock, token: float = 0.0) -> LoadedModel:
    return replace(load(str(seed), engine="scripted"), name="near", model=DraftModel(seed, errs, clock, token))
