"""What a language model is to the rest of predtui: a function from tokens to rows that remembers its last argument.

Nobody above ``llm/`` sees a KV cache, a batch or a device. Must not know how tokens are chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from predtui.errors import PredtuiError
from predtui.llm.rows import Answers, Rows
from predtui.state.events import Message

Stale = Callable[[], bool]


@dataclass(slots=True)
class Counters:
    """What a model has done: ``forwards`` calls of the network, ``tokens`` evaluated in them. Figures come from here.

    A prefill that an engine cuts into chunks is one forward, as it is in the literature.
    """

    forwards: int = 0
    tokens: int = 0


class LanguageModel(Protocol):
    """A causal language model with a memory of its last argument."""

    counters: Counters

    @property
    def vocab_size(self) -> int: ...

    @property
    def context_size(self) -> int:
        """The most tokens ``forward`` takes."""
        ...

    @property
    def answers(self) -> Answers:
        """What the rows of its forwards tell."""
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


@runtime_checkable
class GeneratingModel(LanguageModel, Protocol):
    """A language model that makes many tokens in one request, as one behind a network must. Its ``counters.forwards``
    are requests."""

    def generate(self, tokens: Sequence[int], limit: int) -> Iterator[int]:
        """At most ``limit`` tokens after ``tokens``, each the likeliest after those before it, as they come; it may end
        after one that ends a reply. Closing the iterator ends the request. Raises as ``forward`` does."""
        ...


@runtime_checkable
class SharingModel(LanguageModel, Protocol):
    """A language model that works on all cores on which nobody else does; its logits are the same on any number."""

    def leave(self, cores: int) -> None:
        """Leave so many ``cores`` more to other work that begins now, or, below 0, fewer, since it is over."""
        ...


def leave(model: LanguageModel, cores: int) -> None:
    """As ``SharingModel`` says, where ``model`` is one."""
    if isinstance(model, SharingModel):
        model.leave(cores)


@runtime_checkable
class TreeModel(LanguageModel, Protocol):
    """A language model that also evaluates a tree of continuations in one forward."""

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        """1 + len(tree) rows: after the last of ``tokens``, then after each node of ``tree``, which follows its
        ancestors alone. ``parents[i]`` < i is the index of node i's parent, -1 for those that follow ``tokens``.

        What is remembered is ``tokens`` with the whole tree: the next call pays for nothing that goes down one of its
        branches. Raises as ``forward`` does, and ValueError for parents out of order or a tree too large.
        """
        ...


@runtime_checkable
class SparingModel(LanguageModel, Protocol):
    """A language model that can be lent to other work without losing what it remembers."""

    def aside(self, tokens: Sequence[int], room: int) -> AbstractContextManager[None]:
        """Within it, ``forward`` may be asked anything; what is remembered of ``tokens`` when it is entered is
        remembered again when it is left, at no cost. ``room``: the most tokens evaluated within; where both do not fit
        the context, nothing is spared. Not to be nested."""
        ...


def aside(model: LanguageModel, tokens: Sequence[int], room: int) -> AbstractContextManager[None]:
    """As ``SparingModel`` says, where ``model`` is one; else its memory is that of the last call within."""
    return model.aside(tokens, room) if isinstance(model, SparingModel) else nullcontext()


class ContextOverflow(ValueError):  # noqa: N818 - a condition, as StopIteration is
    """More tokens than the model's context holds."""


class Preempted(Exception):  # noqa: N818 - a condition, as StopIteration is
    """A long evaluation was abandoned between chunks because its result is stale; what was evaluated is remembered."""


def never() -> bool:
    """A ``Stale`` for work that nothing makes stale."""
    return False


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """How many tokens ``left`` and ``right`` share from their beginning."""
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
    """Raises ValueError for a token that is none."""
    if tokens and not 0 <= min(tokens) <= max(tokens) < vocab_size:
        raise ValueError(f"a token is not within 0..{vocab_size - 1}")


class Tokenizer(Protocol):
    """Text to tokens and back, with the model's own special tokens."""

    def encode(self, text: str, special: bool = False) -> list[int]:
        """``special``: whether the text of special tokens (a rendered chat template) becomes those tokens."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Special tokens become nothing; an incomplete UTF-8 sequence at the end is held back."""
        ...

    def is_end(self, token: int) -> bool:
        """Whether the token ends a reply."""
        ...


class ChatTemplate(Protocol):
    """Messages to the text that the model was trained on."""

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt, up to where the assistant's next reply begins."""
        ...


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What an engine is asked to load. ``model``: a name that it knows, or a path. ``threads`` None: as many as suit
    the model. ``context`` in tokens, 0: the model's own within reason. ``stale`` lets a long evaluation be abandoned
    (Preempted). ``weights``: how llama.cpp holds them, as in ``repacking``, empty for its own choice; for other engines
    it means nothing."""

    model: str
    threads: int | None = None
    context: int = 0
    stale: Stale = never
    weights: str = ""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model ready to talk: weights, tokenizer and template belong together."""

    name: str
    engine: str
    device: str
    parameters: int
    model: LanguageModel
    tokenizer: Tokenizer
    template: ChatTemplate
    pad: int | None = None
    """The token that stands where there is none, in models that have one."""

    def require(self, asker: str, whole: bool = False, top: int = 1, logprob: bool = False) -> None:
        """Raises PredtuiError where the model's rows do not tell what ``asker`` needs, in ``Answers`` words."""
        answers = self.model.answers
        lacking = [
            what
            for what, lacks in (
                ("whole rows of logits", whole and not answers.whole),
                (f"the {top} likeliest tokens", top > answers.top),
                ("the log-probability of any token", logprob and not answers.logprob),
            )
            if lacks
        ]
        if lacking:
            told = f"the {self.engine} engine tells the {answers.top} likeliest tokens only"
            raise PredtuiError(f"{asker} needs {lacking[0]}: {told}.", "Choose another one, or another engine.")

    def prompt_tokens(self, messages: Sequence[Message]) -> list[int]:
        """The rendered and tokenised conversation, ready for the reply's first token."""
        inert = [Message(message.role, self._inert(message.content)) for message in messages]
        return self.tokenizer.encode(self.template.render(inert), special=True)

    def _inert(self, content: str) -> str:
        """``content``, spaced out where it spells a special token: words must not be taken for the template's marks."""
        if not set("<[{|") & set(content):
            return content
        plain = self.tokenizer.encode(content)
        marked = self.tokenizer.encode(content, special=True)
        return content if marked[-len(plain) :] == plain else re.sub(r"([<\[{|])", r"\1 ", content)
