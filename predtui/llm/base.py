"""What a language model is to the rest of predtui: a function from tokens to rows that caches its last argument.

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
    """What a model has done: ``forwards`` of the network, and ``tokens`` evaluated in them. The source of all figures.

    A prefill that an engine cuts into chunks is one forward, as it is in the literature.
    """

    forwards: int = 0
    tokens: int = 0


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
    def answers(self) -> Answers:
        """What its rows answer."""
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
    """A model that generates many tokens per request, as one behind a network must. ``counters.forwards`` counts
    requests."""

    def generate(self, tokens: Sequence[int], limit: int) -> Iterator[int]:
        """Greedy decoding: yields up to ``limit`` tokens after ``tokens`` as they arrive; may stop after an end token.
        Closing the iterator cancels the request. Raises as ``forward`` does."""
        ...


@runtime_checkable
class SharingModel(LanguageModel, Protocol):
    """A model that uses every idle core. Its logits do not depend on how many that is."""

    def leave(self, cores: int) -> None:
        """Leave ``cores`` more to other work that begins now; a negative number takes them back."""
        ...


def leave(model: LanguageModel, cores: int) -> None:
    """``SharingModel.leave``, if ``model`` is one."""
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
    """A model that can do other work without losing its cache."""

    def aside(self, tokens: Sequence[int], room: int) -> AbstractContextManager[None]:
        """Within it, ``forward`` may be asked anything; what is remembered of ``tokens`` when it is entered is
        remembered again when it is left, at no cost. ``room``: the most tokens evaluated within; where both do not fit
        the context, nothing is spared. Not to be nested."""
        ...


def aside(model: LanguageModel, tokens: Sequence[int], room: int) -> AbstractContextManager[None]:
    """``SparingModel.aside``, if ``model`` is one; otherwise the cache is left as the last call within leaves it."""
    return model.aside(tokens, room) if isinstance(model, SparingModel) else nullcontext()


class ContextOverflow(ValueError):  # noqa: N818 - a condition, as StopIteration is
    """More tokens than the model's context holds."""


class Preempted(Exception):  # noqa: N818 - a condition, as StopIteration is
    """A long evaluation was abandoned between chunks because its result is stale; what was evaluated is remembered."""


def never() -> bool:
    """A ``Stale`` that never is."""
    return False


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


class ChatTemplate(Protocol):
    """Messages to the text that the model was trained on."""

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt, up to where the assistant's next reply begins."""
        ...


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What an engine is asked to load. ``model``: a known name, or a path. ``threads`` None: what suits the model.
    ``context`` in tokens, 0: the model's own within reason. ``stale`` lets a long evaluation be abandoned (Preempted).
    ``weights``: how llama.cpp holds them, as in ``repacking``, empty for its own choice; ignored by other engines."""

    model: str
    threads: int | None = None
    context: int = 0
    stale: Stale = never
    weights: str = ""


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

    def require(self, asker: str, whole: bool = False, top: int = 1, logprob: bool = False) -> None:
        """Raises PredtuiError if the model's rows do not answer what ``asker`` needs, in terms of ``Answers``."""
        answers = self.model.answers
        lacking = [
            what
            for what, lacks in (
                ("whole rows of logits", whole and not answers.whole),
                (f"the {top} likeliest tokens", top > answers.top and not answers.whole),
                ("the log-probability of any token", logprob and not answers.logprob),
            )
            if lacks
        ]
        if lacking:
            given = f"the {self.engine} engine gives only the {answers.top} likeliest tokens"
            raise PredtuiError(f"{asker} needs {lacking[0]}, and {given}.", "Choose another, or another engine.")

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
