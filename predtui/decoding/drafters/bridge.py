"""A draft model with another tokenizer than the target's, bridged by text. Must not know of verification."""

from __future__ import annotations

from collections.abc import Sequence

from predtui.decoding.base import Drafter
from predtui.decoding.draft import Draft, Verification
from predtui.llm.base import LoadedModel, Tokenizer

PROBE = "The 3 cats, whose über-naïve plan cost 12.50 €,\n  can't wait… 你好 def f(x): return x**2"
_SAMPLES = 256


def same_tokens(target: LoadedModel, draft: LoadedModel) -> bool:
    """Whether a token means the same to both: equal vocabularies, at a few hundred points, and equal tokenisation."""
    size = target.model.vocab_size
    if draft.model.vocab_size != size or target.tokenizer.encode(PROBE) != draft.tokenizer.encode(PROBE):
        return False
    tokens = range(0, size, max(1, size // _SAMPLES))
    return all(target.tokenizer.decode([token]) == draft.tokenizer.decode([token]) for token in tokens)


class BridgedDrafter:
    """Re-encodes the context's text for the draft, and the draft's text for the target. Special tokens are lost on the
    way, so such a draft is a poorer one; what is proposed is certain, which keeps speculative sampling exact."""

    def __init__(self, target: Tokenizer, draft: Tokenizer, drafter: Drafter) -> None:
        """``drafter`` proposes tokens of ``draft``."""
        self._to_text, self._of_text, self._inner = target, draft, drafter

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        encoded = self._of_text.encode(self._to_text.decode(context))
        if not encoded:
            return Draft((), source="bridge")
        drafted = self._inner.propose(encoded, budget, position).tokens
        text = self._of_text.decode([*encoded, *drafted]).removeprefix(self._of_text.decode(encoded))
        return Draft(tuple(self._to_text.encode(text)[:budget]), source="bridge")

    def observe(self, verification: Verification) -> None:
        """The text follows the context by itself."""

    def reset(self) -> None:
        """The text follows the context by itself."""
