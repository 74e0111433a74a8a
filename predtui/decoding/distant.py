"""What decoders that draft do about a target behind a network.

It also makes many tokens in one request. While that is faster than requests that each verify a draft, since the way
takes longer than the target saves, the rest of the reply is streamed. Must not know of drafts or of what they cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from predtui.decoding.autoregressive import generate
from predtui.decoding.base import DecodingStatistics
from predtui.decoding.draft import Verification
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LanguageModel, Stale, Tokenizer, generates, untold


class Distant:
    """A greedily decoded target that makes many tokens in one request.

    Which tokens end a reply its server alone knows, and says so where it generates one: a token without text of which
    it has said nothing yet is left to a streamed request, so that no reply goes on beyond its end."""

    def __init__(self, model: LanguageModel, tokenizer: Tokenizer) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._inner: set[int] = set()
        """Tokens after which a streamed reply went on, or that have text."""

    def rest(
        self,
        context: Sequence[int],
        limit: int,
        is_end: Callable[[int], bool],
        stale: Stale,
        statistics: DecodingStatistics,
        over: Callable[[int], str],
    ) -> Iterator[int]:
        """As ``autoregressive.generate``, in one request. ``over``: told how many tokens it has brought, and says the
        note that ``statistics`` have then."""
        count = 0
        try:
            for token in generate(self._model, context, Greedy(), limit, is_end, stale):
                count += 1
                if not is_end(token):
                    self._inner.add(token)
                statistics.count(proposed=0, accepted=0, tokens=1)
                yield token
        finally:
            statistics.note = over(count)

    def brought(self, verification: Verification, is_end: Callable[[int], bool]) -> tuple[int, ...]:
        """Its tokens, up to one of which nobody knows whether it ends the reply. Counted as generated."""
        tokens = verification.tokens
        known = next((place for place, token in enumerate(tokens) if not self._known(token, is_end)), len(tokens))
        self._model.counters.generated += known
        return tokens[:known]

    def _known(self, token: int, is_end: Callable[[int], bool]) -> bool:
        if token not in self._inner and not is_end(token):
            if untold(self._tokenizer, token):
                return False
            self._inner.add(token)
        return True


def distant(parts: Parts) -> Distant | None:
    """The target of ``parts`` as one, measured as its forwards are; None where it is another kind."""
    model = parts.target.model
    if not generates(model) or not isinstance(parts.sampler, Greedy):
        return None
    return Distant(parts.instrument.around(model), parts.target.tokenizer)
