"""What a language model is to the rest of predtui: a function from tokens to rows that caches its last argument.

Nobody above ``llm/`` sees a KV cache, a batch or a device. Must not know how tokens are chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol, TypeGuard, cast, runtime_checkable

from predtui.errors import PredtuiError
from predtui.llm.abilities import Abilities
from predtui.llm.placement import USUAL, Placement
from predtui.llm.rows import Rows
from predtui.llm.thoughts import Thinking
from predtui.state.events import Message

Stale = Callable[[], bool]
Told = Callable[[int, int], bool]
"""Told how many bytes of a model are there, and of how many; says whether to go on loading it."""
_MARK = re.compile(r"<[^\w\s<>]{0,3}\w[^<>\s]*>|\[/?[A-Z_]+\]|◁/?\w+▷")
"""What a vocabulary may hold as one token, since it is a mark of templates."""


@dataclass(slots=True)
class Counters:
    """What a model has done: ``forwards`` of the network, and ``tokens`` evaluated in them. The source of all figures.

    A prefill that an engine cuts into chunks is one forward, as it is in the literature. Of a ``GeneratingModel``,
    ``forwards`` are requests.
    """

    forwards: int = 0
    tokens: int = 0
    generated: int = 0
    """Tokens that requests have brought, whether or not anybody asked for them."""
    cancelled: int = 0
    """Requests that were given up before their end."""


class LanguageModel(Protocol):
    """A causal language model that caches its last argument."""

    counters: Counters

    @property
    def vocab_size(self) -> int: ...

    @property
    def context_size(self) -> int:
        """The most tokens ``forward`` takes."""
        ...

    @property
    def abilities(self) -> Abilities:
        """What it can, and what its rows answer. Who asks it for more gets nothing sensible."""
        ...

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        """The rows after each of the last ``last`` of ``tokens``.

        Pays only for what differs from the previous call. Raises ValueError for no tokens, ``last`` out of
        1..len(tokens), or a token out of the vocabulary; ContextOverflow for more than ``context_size`` tokens.
        """
        ...

    def forget(self, keep: int = 0) -> None:
        """Remember no more than the first ``keep`` tokens of the last call."""
        ...

    def close(self) -> None: ...


class GeneratingModel(LanguageModel, Protocol):
    """A model that generates many tokens per request, as one behind a network must.

    While it waits for the network, ``forward`` and ``generate`` ask ``ModelRequest.stale``, and give the request up.
    """

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        """Greedy decoding: yields up to ``limit`` tokens after ``tokens`` as they arrive; an end token is one of them,
        and the last. Closing the generator cancels the request. Raises as ``forward`` does, and Preempted."""
        ...


def generates(model: LanguageModel) -> TypeGuard[GeneratingModel]:
    """Whether ``model`` is one."""
    return model.abilities.generates


class SharingModel(LanguageModel, Protocol):
    """A model that uses every idle core. Its logits do not depend on how many that is."""

    def leave(self, cores: int) -> None:
        """Leave ``cores`` more to other work that begins now; a negative number takes them back."""
        ...


def leave(model: LanguageModel, cores: int) -> None:
    """``SharingModel.leave``, if ``model`` is one."""
    if model.abilities.shares:
        cast(SharingModel, model).leave(cores)


class TreeModel(LanguageModel, Protocol):
    """A language model that also evaluates a tree of continuations in one forward."""

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        """1 + len(tree) rows: after the last of ``tokens``, then after each node of ``tree``, which follows its
        ancestors alone. ``parents[i]`` < i is the index of node i's parent, -1 for those that follow ``tokens``.

        What is remembered is ``tokens`` with the whole tree: the next call pays for nothing that goes down one of its
        branches. Raises as ``forward`` does, and ValueError for parents out of order or a tree too large.
        """
        ...


def has_trees(model: LanguageModel) -> TypeGuard[TreeModel]:
    """Whether ``model`` is one."""
    return model.abilities.trees


class HiddenModel(LanguageModel, Protocol):
    """A model that also tells the states that its output layer makes logits of, after the last norm."""

    def tell_hidden(self) -> None:
        """From now on the rows of ``forward`` and ``forward_tree`` have ``hidden`` [rows, ``Abilities.hidden``]. Their
        logits are the same as without."""
        ...


def tells_hidden(model: LanguageModel) -> TypeGuard[HiddenModel]:
    """Whether ``model`` is one."""
    return model.abilities.hidden > 0


class SparingModel(LanguageModel, Protocol):
    """A model that can do other work without losing its cache."""

    def aside(self, tokens: Sequence[int], room: int) -> AbstractContextManager[None]:
        """Within it, ``forward`` may be asked anything; what is remembered of ``tokens`` when it is entered is
        remembered again when it is left, at no cost. ``room``: the most tokens evaluated within; where both do not fit
        the context, nothing is spared. Not to be nested."""
        ...


def aside(model: LanguageModel, tokens: Sequence[int], room: int) -> AbstractContextManager[None]:
    """``SparingModel.aside``, if ``model`` is one; otherwise the cache is left as the last call within leaves it."""
    return cast(SparingModel, model).aside(tokens, room) if model.abilities.spares else nullcontext()


class ContextOverflow(ValueError):  # noqa: N818 - a condition, as StopIteration is
    """More tokens than the model's context holds."""


class Preempted(Exception):  # noqa: N818 - a condition, as StopIteration is
    """A long evaluation was abandoned between chunks because its result is stale; what was evaluated is remembered."""


def never() -> bool:
    """A ``Stale`` that never is."""
    return False


def unheard(_done: int, _total: int) -> bool:
    """A ``Told`` that lets every model be loaded."""
    return True


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the longest common prefix."""
    shared = min(len(left), len(right))
    if left[:shared] == right[:shared]:
        return shared
    return next((i for i in range(shared) if left[i] != right[i]), shared)


def check_request(tokens: Sequence[int], last: int, context_size: int) -> None:
    """What ``LanguageModel.forward`` must refuse before it looks at a token. Raises ValueError or ContextOverflow."""
    if not tokens or not 1 <= last <= len(tokens):
        raise ValueError(f"last={last} of {len(tokens)} tokens")
    if len(tokens) > context_size:
        raise ContextOverflow(f"{len(tokens)} tokens exceed the context of {context_size}")


def check_vocabulary(tokens: Sequence[int], vocab_size: int) -> None:
    """Raises ValueError for a token outside the vocabulary."""
    if tokens and not 0 <= min(tokens) <= max(tokens) < vocab_size:
        raise ValueError(f"a token is not within 0..{vocab_size - 1}")


def reusable(memory: Sequence[int], tokens: Sequence[int], last: int, context_size: int, vocab_size: int) -> int:
    """How many of the ``tokens`` of a ``forward`` an engine that remembers ``memory`` need not evaluate:
    those that both begin with, but none of the ``last`` ones, whose rows are wanted. Raises as ``forward`` does."""
    check_request(tokens, last, context_size)
    kept = min(common_prefix(memory, tokens), len(tokens) - last)
    check_vocabulary(tokens[kept:], vocab_size)
    return kept


class Tokenizer(Protocol):
    """Text to tokens and back."""

    def encode(self, text: str, special: bool = False) -> list[int]:
        """``special``: whether the text of special tokens (a rendered chat template) becomes those tokens."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Special tokens become nothing; an incomplete UTF-8 sequence at the end is held back."""
        ...

    def is_end(self, token: int) -> bool:
        """Whether the token ends a reply."""
        ...


@runtime_checkable
class SpellingTokenizer(Tokenizer, Protocol):
    """A tokenizer that knows what each token spells."""

    def piece(self, token: int) -> bytes:
        """Its bytes; none for a special token."""
        ...


@runtime_checkable
class AskingTokenizer(Tokenizer, Protocol):
    """A tokenizer to which each token that it has not met costs a question."""

    def borrow(self, other: SpellingTokenizer, size: int) -> None:
        """Ask ``other``, of the same vocabulary, what its first ``size`` tokens spell."""
        ...


def untold(tokenizer: Tokenizer, token: int) -> bool:
    """Whether ``token`` may end a reply although ``tokenizer`` does not say so: it has no text, and of a model behind a
    network an end is known once it was generated as one."""
    return not tokenizer.is_end(token) and not tokenizer.decode([token])


class ChatTemplate(Protocol):
    """Messages to the text that the model was trained on."""

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt, up to where the assistant's next reply begins."""
        ...


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What an engine is asked to load. ``model``: a known name, or a path. ``threads`` None: what suits the model.
    ``context`` in tokens, 0: the model's own within reason. ``stale`` lets a long evaluation be abandoned (Preempted).
    ``weights``: how llama.cpp holds them, as in ``repacking``, empty for its own choice; of ``placement``, torch heeds
    ``device`` where it is cpu, and ``graphs``; other engines heed neither. ``told`` hears how far the loading is, where
    an engine can tell. ``caches``: how many it is going to hold at once (``sequences``), which must have room;
    ``room``: the most bytes that it may take with them, None for what is free."""

    model: str
    threads: int | None = None
    context: int = 0
    stale: Stale = never
    weights: str = ""
    placement: Placement = USUAL
    told: Told = unheard
    caches: int = 1
    room: int | None = None


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model with its tokenizer and chat template."""

    name: str
    engine: str
    device: str
    parameters: int
    model: LanguageModel
    tokenizer: Tokenizer
    template: ChatTemplate
    pad: int | None = None
    """The padding token, in models that have one."""
    thinking: Thinking | None = None
    """How it thinks before it answers; None where it has no marks for that."""
    stops: tuple[str, ...] = ()
    """Strings before which a reply ends, beside the tokens that end it."""
    footprint: int = 0
    """Bytes of memory that it takes, about: weights, caches and buffers; 0 where that is not known."""
    looked: Callable[[int], None] = lambda _paths: None
    """Is told each time that heads over its states look further, for so many paths at once."""

    @property
    def room_to_think(self) -> int:
        """The most tokens that a reply has beside its answer."""
        return self.thinking.room if self.thinking else 0

    @property
    def abilities(self) -> Abilities:
        """What its model can."""
        return self.model.abilities

    def require(
        self, asker: str, whole: bool = False, top: int = 0, logprob: bool = False, exact: bool = False
    ) -> None:
        """Raises PredtuiError if the model cannot do what ``asker`` needs, in terms of ``Abilities``."""
        if lacking := self.abilities.lacking(whole, top, logprob, exact):
            raise PredtuiError(
                f"{asker} needs {lacking}, and the {self.engine} engine gives only {self.abilities.told}.",
                "Choose another, or another engine.",
            )

    def prompt_tokens(self, messages: Sequence[Message]) -> list[int]:
        """The rendered and tokenised conversation, ready for the reply's first token."""
        inert = [Message(message.role, self._inert(message.content)) for message in messages]
        return self.tokenizer.encode(self.template.render(inert), special=True)

    def _inert(self, content: str) -> str:
        """``content``, spaced out where it spells a special token: words must not be taken for the template's marks."""
        if not set("<[{|◁") & set(content):
            return content
        plain = self.tokenizer.encode(content)
        marked = self.tokenizer.encode(content, special=True)
        known = any(len(self.tokenizer.encode(mark)) == 1 for mark in {*_MARK.findall(content)})
        return re.sub(r"([<\[{|◁])", r"\1 ", content) if known or marked[-len(plain) :] != plain else content
