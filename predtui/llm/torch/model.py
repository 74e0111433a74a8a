"""A transformers network behind ``LanguageModel``: the prefix shared with the last call stays in its key-value cache.

Must not know of text, of files, or of how tokens are chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from predtui.llm.abilities import Abilities, Rollback
from predtui.llm.base import (
    Counters,
    Preempted,
    Stale,
    never,
    reusable,
)
from predtui.llm.halt import Halt
from predtui.llm.pace import Pace
from predtui.llm.rows import ArrayRows, Logits, Rows
from predtui.llm.torch import DEFAULT_CONTEXT
from predtui.llm.torch.naming import cache_name
from predtui.llm.torch.part import layers_of, part_of

_WHOLE = (DynamicLayer, DynamicSlidingWindowLayer)
"""Layers of a cache that a plain one may stand for; those that derive from them have states beside."""


class TorchModel:
    """A causal language model of transformers, on the device that it stands on."""

    def __init__(self, network: Any, context: int = 0, stale: Stale = never) -> None:
        """``network``: a ``PreTrainedModel`` in evaluation mode, which may be trained between two calls if ``forget``
        follows. ``context`` in tokens, 0 for the network's own up to 4096; ``stale`` is asked between the pieces of a
        long evaluation, and a Halt between its layers, too, which then raises Preempted."""
        self.network = network
        self.counters = Counters()
        config = network.config.get_text_config()
        trained = int(getattr(config, "max_position_embeddings", None) or DEFAULT_CONTEXT)
        self._context_size = min(context or DEFAULT_CONTEXT, trained)
        self._vocab_size = int(config.vocab_size)
        self._stale = stale
        self._deaf = False
        """Whether a forward is not to be halted."""
        self._telling = False
        self._states = torch.empty(0)
        """What the output layer saw last, [rows, width], where that is told."""
        self._memory: list[int] = []
        self._cache = self._empty()
        self._pace = Pace()
        self._cuttable = all(type(layer) in _WHOLE for layer in DynamicCache(config=config).layers)
        self._layers = layers_of(network) if self._cuttable else 0
        self._cache_name = cache_name(network)
        self._continues = self._cuttable or _continues(network, self._cache_name)
        if isinstance(stale, Halt):
            self._stop_at(stale)

    @property
    def vocab_size(self) -> int:
        return self._vocab_size

    @property
    def abilities(self) -> Abilities:
        rollback: Rollback = "any" if self._cuttable else "none"
        layer = self.network.get_output_embeddings() if self.network else None
        hidden = getattr(layer, "in_features", 0)
        return replace(Abilities.of_logits(self.vocab_size), rollback=rollback, hidden=hidden, layers=self._layers)

    @property
    def context_size(self) -> int:
        return self._context_size

    @property
    def parameters(self) -> int:
        return sum(weight.numel() for weight in self.network.parameters())

    @property
    def device(self) -> str:
        """``cpu``, ``cuda``, ..."""
        return str(self.network.device.type)

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        kept = self._cut_back(reusable(self._memory, tokens, last, self._context_size, self._vocab_size))
        if len(tokens) > kept + 1 and not self._continues:
            kept = self._cut_back(0)
        self.counters.forwards += 1
        rows, states = [], []
        pieces = self._pace.pieces(kept, len(tokens) - last, len(tokens))
        for start, end in pieces if self._continues else [(kept, len(tokens))]:
            if start > kept and self._stale():
                raise Preempted
            wanted = min(end - start, max(0, end - (len(tokens) - last)))
            evaluated = self._evaluate(tokens[start:end], wanted)
            if wanted:
                rows.append(evaluated[-wanted:])
            if wanted and self._telling:
                states.append(self._states[-wanted:])
        return self._rows(torch.cat(rows), torch.cat(states) if states else None)

    def tell_hidden(self) -> None:
        """As ``HiddenModel`` says."""
        self._telling = True

    def part_bytes(self, layers: Sequence[int]) -> int:
        """As ``LayeredModel`` says: keys and values."""
        return self._cell_bytes * len(layers) * self._context_size

    def part(self, layers: Sequence[int]) -> TorchModel:
        """As ``LayeredModel`` says."""
        return type(self)(part_of(self.network, layers), self._context_size, self._stale)

    @property
    def _cell_bytes(self) -> int:
        """Of the keys and values of a token in one layer."""
        config = self.network.config.get_text_config()
        heads = config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // heads
        kept = (getattr(config, "num_key_value_heads", None) or heads) * width
        return int(2 * kept * self.network.dtype.itemsize)

    def forget(self, keep: int = 0) -> None:
        self._cut_back(min(keep, len(self._memory)))

    def close(self) -> None:
        self.network = self._cache = None
        self._memory = []

    @torch.inference_mode()
    def _evaluate(
        self,
        tokens: Sequence[int],
        wanted: int,
        positions: Sequence[int] | None = None,
        seen: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """One forward over what follows the memory; logits [at least ``wanted``, vocab] at its end. ``positions`` and
        the mask ``seen`` [1, 1, tokens, memory and tokens] are those of a sequence, if they are not given."""
        device = self.network.device
        ids = torch.tensor([list(tokens)], device=device)
        try:
            with self._noting() if self._telling else nullcontext():
                out = self.network(
                    ids,
                    position_ids=None if positions is None else torch.tensor([list(positions)], device=device),
                    attention_mask=None if seen is None else seen.to(device),
                    use_cache=True,
                    logits_to_keep=max(1, wanted),
                    **{self._cache_name: self._cache},
                )
        except Preempted:
            self._forget_partly()
            raise
        self._memory.extend(tokens)
        self.counters.tokens += len(tokens)
        rows: torch.Tensor = out.logits[0]
        return rows

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Within it, a forward leaves what goes into the output layer in ``_states``."""

        def note(_layer: torch.nn.Module, inputs: Any) -> None:
            self._states = inputs[0][0]

        layer = self.network.get_output_embeddings()
        hook = layer.register_forward_pre_hook(note) if layer is not None else None
        try:
            yield
        finally:
            if hook is not None:
                hook.remove()

    def _rows(self, logits: torch.Tensor, states: torch.Tensor | None) -> ArrayRows:
        """Of ``logits`` [rows, vocab], and the states behind them where these are told."""
        found: Logits = logits[:, : self._vocab_size].float().cpu().numpy()
        return ArrayRows(found, None if states is None else states.float().cpu().numpy())

    def _cut_back(self, keep: int) -> int:
        """Forget what lies beyond ``keep`` tokens, or all where the cache cannot be cut (recurrence); what is kept."""
        surplus = len(self._memory) - keep
        if surplus > 0 and keep and self._cuttable:
            self._cache.crop(-surplus)
            del self._memory[keep:]
        elif surplus > 0:
            self._forget_all()
        return len(self._memory)

    def _stop_at(self, halt: Halt) -> None:
        """Ask before each layer; networks without a list of layers are asked between forwards only."""

        def check(_module: torch.nn.Module, _inputs: Any) -> None:
            if not self._deaf and halt.within():
                raise Preempted

        lists = [module for module in self.network.modules() if isinstance(module, torch.nn.ModuleList)]
        for layer in max(lists, key=len, default=()):
            layer.register_forward_pre_hook(check)

    def _forget_partly(self) -> None:
        """Of a forward that was halted, what the first layers have kept of it."""
        if not self._cuttable:
            self._forget_all()
            return
        for layer in self._cache.layers:
            layer.crop(-max(0, layer.get_seq_length() - len(self._memory)))

    def _forget_all(self) -> None:
        self._memory = []
        self._cache = self._empty()

    def _empty(self) -> Any:
        """A cache of nothing."""
        return _cache(self.network)


def _cache(network: Any) -> Any:
    """An empty cache. Where every layer attends, it keeps every position, also those that a sliding window has passed,
    since any prefix may be returned to; recurrent layers have a state that cannot be returned from."""
    cache = DynamicCache(config=network.config.get_text_config())
    return DynamicCache() if all(type(layer) in _WHOLE for layer in cache.layers) else cache


@torch.inference_mode()
def _continues(network: Any, cache_name: str) -> bool:
    """Whether several tokens at once go on from the state of those before: some recurrent networks begin anew with
    them, without a word."""
    tokens = torch.arange(1, 6, device=network.device)[None]
    cache = _cache(network)
    network(tokens[:, :2], use_cache=True, **{cache_name: cache})
    split = network(tokens[:, 2:], use_cache=True, **{cache_name: cache}).logits[0, -1]
    whole = network(tokens, use_cache=True, **{cache_name: _cache(network)}).logits[0, -1]
    return bool((whole - split).abs().max() < 0.01 * whole.abs().max())
