"""What heads learn from: a target's own replies, and the states that it had while it gave them.

Kept in one safetensors file, since a forward is not the same to the last bit in every run. Must not know of networks or
of losses.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from predtui.decoding.recall import NOTHING, along
from predtui.files import replace_by
from predtui.lab.training.cllm.windows import IGNORED, Reply
from predtui.llm.base import LoadedModel, tells_hidden

Facts = dict[str, Any]
Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class States:
    """``hidden`` [tokens, width], 16 bits: the state from which the target chose each token of ``tokens`` [tokens], all
    replies behind each other; ``recalled`` [tokens, 2]: what ``Recall`` tells after each; ``ends`` [replies]: where
    each reply ends. ``asked``: the tokens of their prompts, and ``asked_ends`` [replies]: where each of these ends.
    ``prompts``: those of the replies that are held out, whose states are not here."""

    hidden: Tensor
    tokens: Tensor
    recalled: Tensor
    ends: Tensor
    asked: Tensor
    asked_ends: Tensor
    prompts: tuple[tuple[int, ...], ...]


def of_replies(
    loaded: LoadedModel, replies: Sequence[Reply], held_out: int, told: Callable[[int], None] = lambda _done: None
) -> States:
    """The states of all but the last ``held_out`` of ``replies``; ``told`` hears how many are done."""
    assert tells_hidden(loaded.model), "the trainer has seen to it"
    loaded.model.tell_hidden()
    learned = replies[: len(replies) - held_out]
    hidden = []
    for number, reply in enumerate(learned):
        rows = loaded.model.forward([*reply.prompt, *reply.tokens[:-1]], len(reply.tokens))
        assert rows.hidden is not None
        hidden.append(torch.from_numpy(rows.hidden.astype(np.float16)))
        told(number + 1)
    loaded.model.forget()
    tokens = torch.tensor([token for reply in learned for token in reply.tokens])
    ends = torch.tensor([len(reply.tokens) for reply in learned]).cumsum(0)
    recalled = torch.tensor([pair for reply in learned for pair in along(reply.prompt, reply.tokens)])
    asked = torch.tensor([token for reply in learned for token in reply.prompt])
    asked_ends = torch.tensor([len(reply.prompt) for reply in learned]).cumsum(0)
    held = tuple(reply.prompt for reply in replies[len(learned) :])
    return States(torch.cat(hidden), tokens, recalled, ends, asked, asked_ends, held)


def save(path: Path, states: Any, facts: Facts) -> None:
    """A dataclass of tensors, and of ``prompts``; as a whole or not at all."""
    tensors = {name: getattr(states, name) for name in _tensors(type(states))}
    about = {"facts": json.dumps(facts, sort_keys=True), "prompts": json.dumps(states.prompts)}
    replace_by(path, lambda place: save_file(tensors, str(place), metadata=about))


def saved(path: Path, facts: Facts) -> States | None:
    """What ``save`` wrote with the same ``facts``; None where there is no such file."""
    return read(path, facts, States)


def read(path: Path, facts: Facts, kind: Callable[..., Kind]) -> Kind | None:
    """The same, of that ``kind``."""
    try:
        with safe_open(str(path), framework="pt") as file:
            about = file.metadata() or {}
            if about.get("facts") != json.dumps(facts, sort_keys=True):
                return None
            tensors = {name: file.get_tensor(name) for name in _tensors(kind)}
    except (OSError, SafetensorError):
        return None
    return kind(**tensors, prompts=tuple(tuple(prompt) for prompt in json.loads(about["prompts"])))


def _tensors(kind: Any) -> list[str]:
    return [field.name for field in fields(kind) if field.name != "prompts"]


def vocabulary(states: States, most: int) -> Tensor:
    """The ``most`` tokens that are commonest in the replies, the commonest first."""
    return commonest(states.tokens, most)


def commonest(tokens: Tensor, most: int) -> Tensor:
    """The ``most`` of ``tokens`` [n] that are commonest in them, the commonest first."""
    counts = Counter(tokens.tolist())
    return torch.tensor([token for token, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:most]])


Batch = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]
"""Of places: states [places, width]; the rows [places, depth] of the tokens that follow; those [places, depth, 2] of
what is recalled after each of them; those [places, window] of the tokens before, ``NOTHING`` before the context; and
those [places, depth] that are to be foretold: ``IGNORED`` beyond the reply, and for what is not in the vocabulary."""


class Lessons:
    """Places in the replies, each with the tokens that follow."""

    def __init__(self, states: States, tokens: Tensor, depth: int, window: int = 0) -> None:
        """``tokens`` [n]: the draft vocabulary; ``depth``: tokens that are to be foretold; ``window``: those before
        that are told."""
        self._hidden, self._depth, self._window, self._n = states.hidden, depth, window, len(tokens)
        largest = max(int(part.max()) for part in (states.tokens, states.asked, tokens))
        rows = torch.full((largest + 1,), self._n)
        rows[tokens] = torch.arange(self._n)
        self._rows = rows[states.tokens]
        known = (states.recalled >= 0) & (states.recalled < len(rows))
        self._recalled = torch.where(known, rows[states.recalled.clamp(0, len(rows) - 1)], self._n)
        lengths = torch.diff(states.ends, prepend=torch.zeros(1, dtype=torch.long))
        place = torch.arange(len(self._rows))
        self._left = torch.repeat_interleave(states.ends, lengths) - place
        """Tokens of its reply from each place on."""
        self._places = torch.nonzero(self._left > 1)[:, 0]
        questions = torch.diff(states.asked_ends, prepend=torch.zeros(1, dtype=torch.long))
        self._before = torch.repeat_interleave(questions + lengths, lengths) - self._left
        """Tokens of its context before each place."""
        self._stands = place + torch.repeat_interleave(states.asked_ends, lengths)
        """Where each place is in the contexts."""
        self._contexts = torch.empty(len(states.asked) + len(place), dtype=torch.long)
        """The rows of prompts and replies, all behind each other."""
        before_reply = torch.cat((torch.zeros(1, dtype=torch.long), states.ends[:-1]))
        stands = torch.arange(len(states.asked)) + torch.repeat_interleave(before_reply, questions)
        self._contexts[stands], self._contexts[self._stands] = rows[states.asked], self._rows

    def __len__(self) -> int:
        return len(self._places)

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Of places that ``generator`` draws."""
        places = self._places[torch.randint(len(self._places), (size,), generator=generator)]
        ahead = places[:, None] + torch.arange(self._depth + 1)
        ahead = ahead.clamp(max=len(self._rows) - 1)
        rows = self._rows[ahead]
        inside = torch.arange(self._depth + 1) < self._left[places, None]
        told = torch.where(inside & (rows < self._n), rows, IGNORED)
        given = torch.where(inside, rows, self._n)[:, :-1]
        back = torch.arange(-self._window, 0)
        before = self._contexts[(self._stands[places, None] + back).clamp(min=0)]
        before = torch.where(back + self._before[places, None] >= 0, before, NOTHING)
        return self._hidden[places].float(), given, self._recalled[ahead[:, :-1]], before, told[:, 1:]
