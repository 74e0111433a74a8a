"""Replies with Jacobi blocks in flight over them, packed so that one forward judges the reply and all its blocks.

A row is a prompt, its reply, and after them several *windows*: the guesses of blocks that begin at different places
of the reply. A window's tokens stand at the positions they guess and see what precedes them there, and themselves,
alone; so each row is what the decoder would evaluate block by block, with the prompt paid for once.
Tensor arithmetic only: must not know of networks, of losses, or of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

IGNORED = -100
"""What stands for no target, as ``cross_entropy`` has it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A prompt and the model's own greedy reply to it, the end token included: the fixed point of every trajectory."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]


class Windows:
    """A batch of replies and the state of the blocks over them.

    ``start`` [rows, windows] is where in its reply a block begins: tokens before it are committed. ``guess``
    [rows, windows, block - 1] are the guesses of its tokens but the last, which has no successor in the block.
    """

    def __init__(
        self,
        replies: Sequence[Reply],
        windows: int,
        block: int,
        generator: torch.Generator,
        fill: int | None = None,
    ) -> None:
        """``fill`` stands for a token that is not guessed yet; None: the last one before it is repeated, as the
        decoder does."""
        self._generator, self._fill = generator, fill
        self._slots = block - 1
        rows = [[*reply.prompt, *reply.tokens] for reply in replies]
        self.width = max(map(len, rows))
        self._text = torch.tensor([row + [0] * (self.width - len(row)) for row in rows])
        self._prompt = torch.tensor([len(reply.prompt) for reply in replies])
        self._length = torch.tensor([len(reply.tokens) for reply in replies])
        self.first = int(self._prompt.min()) - 1
        """The first column whose choice matters."""
        self.start = torch.zeros(len(rows), windows, dtype=torch.long)
        self.guess = torch.zeros(len(rows), windows, self._slots, dtype=torch.long)
        self._begin(torch.ones_like(self.start, dtype=torch.bool), self._spread())

    @property
    def ids(self) -> Tensor:
        """[rows, width + windows x slots]: replies, padded, then the windows."""
        return torch.cat((self._text, self.guess.flatten(1)), dim=1)

    @property
    def positions(self) -> Tensor:
        """The position of each column of ``ids``."""
        text = torch.arange(self.width).expand(len(self._text), -1)
        return torch.cat((text, self._slot_positions().flatten(1)), dim=1)

    def visible(self) -> Tensor:
        """[rows, 1, columns, columns]: whether a column of ``ids`` sees another."""
        rows, windows = self.start.shape
        column = torch.arange(self.width)
        causal = torch.ones(self._slots, self._slots, dtype=torch.bool).tril()
        blocks = torch.kron(torch.eye(windows, dtype=torch.bool), causal)
        committed = column < (self._prompt[:, None] + self.start)[..., None]
        text = torch.cat((column[:, None] >= column, torch.zeros(self.width, len(blocks), dtype=torch.bool)), dim=1)
        seen = torch.cat(
            (committed.repeat_interleave(self._slots, dim=1), blocks.expand(rows, -1, -1)),
            dim=2,
        )
        return torch.cat((text.expand(rows, -1, -1), seen), dim=1)[:, None]

    def targets(self) -> tuple[Tensor, Tensor]:
        """The token that should follow each column: [rows, width - first] of the replies themselves, and
        [rows, windows x slots] of the blocks; ``IGNORED`` outside the replies."""
        column = torch.arange(self.first, self.width).expand(len(self._text), -1)
        return self._after(column), self._after(self._slot_positions().flatten(1))

    def advance(self, text_choices: Tensor, slot_choices: Tensor) -> None:
        """One Jacobi iteration: each block takes the model's choices ([rows, width - first] and
        [rows, windows x slots]), commits those before which all was right, and slides; a block that reaches the end of
        its reply begins anew elsewhere. What is committed is the reply itself, even where the model by now would
        choose otherwise."""
        guessed = self.guess == self._after(self._slot_positions() - 1)
        held = guessed.long().cumprod(-1).sum(-1)
        before = self._prompt[:, None] + self.start - 1 - self.first
        heads = text_choices.gather(1, before.clamp(max=text_choices.shape[1] - 1))
        choices = torch.cat((heads[..., None], slot_choices.view_as(self.guess)), dim=-1)
        following = torch.arange(1, self._slots + 1) + held[..., None]
        self.guess = choices.gather(2, following.clamp(max=self._slots))
        if self._fill is not None:
            self.guess = torch.where(following > self._slots, self._fill, self.guess)
        self.start = self.start + held + 1
        self._begin(self.start >= self._length[:, None])

    def _begin(self, which: Tensor, place: Tensor | None = None) -> None:
        """Put the blocks ``which`` [rows, windows] at ``place`` (shares of their reply, at random if None), with
        nothing guessed yet."""
        if place is None:
            place = torch.rand(which.shape, generator=self._generator)
        start = (place * self._length[:, None]).long()
        self.start = torch.where(which, start, self.start)
        before = self._text.gather(1, self._prompt[:, None] + self.start - 1)
        fill = before if self._fill is None else torch.full_like(before, self._fill)
        self.guess = torch.where(which[..., None], fill[..., None], self.guess)

    def _spread(self) -> Tensor:
        """Places [rows, windows] for blocks that begin: one where the reply does, each other in a stretch of its own,
        since two at one place would be the same for ever."""
        windows = self.start.shape[1]
        inside = torch.rand(self.start.shape, generator=self._generator)
        return (torch.arange(windows) + inside * (torch.arange(windows) > 0)) / windows

    def _slot_positions(self) -> Tensor:
        """[rows, windows, slots]"""
        return (self._prompt[:, None] + self.start)[..., None] + torch.arange(self._slots)

    def _after(self, position: Tensor) -> Tensor:
        """The reply's token after each ``position`` [rows, ...]; ``IGNORED`` where that is none of the reply's."""
        shape = [-1] + [1] * (position.ndim - 1)
        prompt, end = self._prompt.view(shape), (self._prompt + self._length).view(shape)
        flat = (position + 1).clamp(0, self.width - 1).flatten(1)
        token = self._text.gather(1, flat).view_as(position)
        inside = (position + 1 >= prompt) & (position + 1 < end)
        return torch.where(inside, token, IGNORED)
