"""A draft model with another tokenizer than the target's, bridged by text. Must not know of verification."""

from __future__ import annotations

from collections.abc import Sequence

from predtui.decoding.base import Drafter
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.parts import Parts
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, Tokenizer
from predtui.llm.spelling import spelled
from predtui.state.events import Message

PROBE = "The 3 cats, whose über-naïve plan cost 12.50 €,\n  can't wait… 你好 def f(x): return x**2"
_SAMPLES = 256
_MORE = (
    "Müßte d'Artagnan 1234567890 µg 3.14159 (or -2e10)? ¿Qué? Ça, où: œuvre. Здравствуйте, как дела 99%? مرحبا بالعالم "
    "नमस्ते दुनिया こんにちは世界。안녕하세요 สวัสดี ไทย שלום Ελληνικά 🙂👍🏽 antidisestablishmentarianism   \t\n\n  "
    "for (int i = 0; i != n; ++i) return a_b.cDe; SELECT * FROM t WHERE x IN (1, 2); https://example.org/a?b=c&d=%20"
)


def same_tokens(target: LoadedModel, draft: LoadedModel) -> bool:
    """Whether a token means the same to both: equal vocabularies, at a few hundred points, and equal tokenisation. Of
    a target behind a network, of which every token would have to be asked for: equal tokenisation of words in many
    scripts and of a template's marks."""
    if target.abilities.generates:
        return draft.model.vocab_size <= target.model.vocab_size and _tokenised_alike(target, draft)
    size = target.model.vocab_size
    if draft.model.vocab_size != size or target.tokenizer.encode(PROBE) != draft.tokenizer.encode(PROBE):
        return False
    tokens = range(0, size, max(1, size // _SAMPLES))
    return all(spelled(target.tokenizer, token) == spelled(draft.tokenizer, token) for token in tokens)


def same_draft(parts: Parts, does: str, bridging: str = "--drafter model") -> LoadedModel:
    """The draft of ``parts``, which speaks the target's tokens. Raises PredtuiError where it speaks others: it cannot
    then do what it ``does``, in words that the target's name ends; ``bridging``: what can do without."""
    target, draft = parts.target, parts.needed_draft()
    if not same_tokens(target, draft):
        raise PredtuiError(
            f"{draft.name} cannot {does} {target.name}: their vocabularies differ.",
            f"Choose a draft of the same family, or {bridging}, which bridges them.",
        )
    return draft


def _tokenised_alike(target: LoadedModel, draft: LoadedModel) -> bool:
    asked = target.template.render([Message("user", "a")])
    return all(
        target.tokenizer.encode(text, special) == draft.tokenizer.encode(text, special)
        for text, special in ((PROBE, False), (_MORE, False), (asked, True))
    )


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
