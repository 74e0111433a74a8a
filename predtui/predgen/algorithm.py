"""Algorithm 1 of PredGen on tokens: verify the candidate against the new prompt, keep what holds, regenerate the rest.

Lazy: whoever stops asking stops the work, and every token computed so far stays in the candidate. Must not know of
text, sentences, events or stages.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from predtui.decoding.base import Decoder
from predtui.llm.base import LoadedModel, Stale, common_prefix, never
from predtui.predgen.candidates import CandidateReply, Candidates
from predtui.predgen.verifiers import CandidateVerifier


@dataclass(frozen=True, slots=True)
class Progress:
    """The candidate for the present prompt is ``kept + new``; ``kept + struck`` is the one that it came out of."""

    kept: tuple[int, ...]
    new: tuple[int, ...]
    rejected: tuple[int, ...]
    ended: bool
    """Whether nothing follows: the model ended the reply, or it is as long as it may be."""
    lossless: bool
    verifying: bool = False
    """Whether ``rejected`` is still to be verified: some of it may hold."""
    generated: int = 0
    """Tokens chosen in this turn so far, for whatever prompt: what was not committed of them was wasted."""

    @property
    def tokens(self) -> tuple[int, ...]:
        return self.kept + self.new


class Speculator:
    """Holds a candidate reply from revision to revision, and those that it had for the last few prompts before."""

    def __init__(
        self,
        loaded: LoadedModel,
        decoder: Decoder,
        verifier: CandidateVerifier,
        reply_limit: int = 256,
        memory: int = 4,
        continuations: int = 0,
    ) -> None:
        """``decoder``: what regenerates the rest of a reply. ``reply_limit``: the most tokens of a reply.
        ``memory``: how many candidates are kept for prompts that have come, the present one included;
        ``continuations``: and for prompts that have not."""
        self._model = loaded.model
        self._is_end = loaded.tokenizer.is_end
        self._decoder = decoder
        self._reply_limit = reply_limit
        self._verifier = verifier
        self._former = Candidates(memory - (not continuations))
        self._continuations = Candidates(continuations)
        self.reset()

    @property
    def candidate(self) -> tuple[int, ...]:
        return tuple(self._candidate)

    def reset(self) -> None:
        """Forget all candidates: a new turn."""
        self._candidate: list[int] = []
        self._prompt: Sequence[int] = ()
        self._former.clear()
        self._continuations.clear()
        self._holds_for: list[int] | None = None
        self._ahead = False
        self._lossless = True
        self._generated = 0

    def verify_by(self, verifier: CandidateVerifier) -> None:
        """Verify with ``verifier`` from now on; what another one let pass is verified again."""
        self._verifier = verifier
        self._former.clear()
        self._continuations.clear()
        self._holds_for = None

    def held(self, prompt: Sequence[int]) -> tuple[int, ...]:
        """The candidate that is held for exactly this prompt; empty where there is none."""
        if self._holds_for == list(prompt):
            return self.candidate
        found = self._former.get(prompt) or self._continuations.get(prompt)
        return found.tokens if found else ()

    def read(self, prompt: Sequence[int]) -> int:
        """How many tokens of ``prompt`` are those of the one that was worked on last."""
        return common_prefix(self._prompt, prompt)

    def advance(
        self, prompt: Sequence[int], stale: Stale = never, ahead: bool = False, spare: float = math.inf
    ) -> Iterator[Progress]:
        """After each forward of the verification, then after each new token, until the reply ends or the work is stale.

        A prompt equal to one of the last few costs no verification, since each token of its candidate was chosen for
        it: then even zero forwards may bring the first sentence. Any other is verified against all candidates, and the
        one of which most holds is gone on with. ``ahead``: the prompt has not come, but may. ``spare``: the seconds
        that the verification may take for nothing. The prompt is shorter than the model's context. Raises Preempted as
        the model does, with the candidate as it was."""
        if stale():
            return
        limit = min(self._reply_limit, self._model.context_size - len(prompt))
        if self._recall(prompt):
            kept, rejected = len(self._candidate), tuple[int, ...]()
        else:
            kept, rejected = yield from self._verify(prompt, limit, spare)
        self._ahead, self._prompt = ahead, prompt
        yield self._progress(kept, rejected, limit)
        context = [*prompt, *self._candidate]
        position = len(self._candidate)
        if self._ended(limit):
            return
        rest = self._decoder.generate(context, limit - position, self._is_end, stale, position, guess=rejected[1:])
        for token in rest:
            self._choose(token)
            yield self._progress(kept, rejected, limit)

    def _recall(self, prompt: Sequence[int]) -> bool:
        """Recognisers flip back and forth: take up the candidate of ``prompt`` where there is one."""
        if self._holds_for == list(prompt):
            return True
        found = self._former.take(prompt) or self._continuations.take(prompt)
        if found is not None:
            self._remember()
            self._candidate, self._lossless = list(found.tokens), found.lossless
            self._holds_for = list(prompt)
        return found is not None

    def _remember(self) -> None:
        """Keep the present candidate as a former one."""
        if self._holds_for is not None:
            memory = self._continuations if self._ahead else self._former
            memory.keep(self._holds_for, CandidateReply(self.candidate, self._lossless))

    def _verify(
        self, prompt: Sequence[int], limit: int, spare: float
    ) -> Generator[Progress, None, tuple[int, tuple[int, ...]]]:
        """Go on with what holds of one of the candidates and the token after it: how many tokens were kept, and what
        fell of that candidate. Whoever stops asking before that leaves the candidate as it was."""
        known = (self._candidate, *self._former.newest(), *self._continuations.newest())
        candidates = [tuple(tokens[:limit]) for tokens in known]
        accepted, lossless, source = tuple[int, ...](), True, candidates[0]
        for verification in self._verifier.verify(prompt, candidates, spare):
            accepted, lossless = accepted + verification.accepted, lossless and verification.lossless
            source = next((one for one in candidates if one[: len(accepted)] == accepted), candidates[0])
            if verification.more:
                yield Progress(accepted, (), source[len(accepted) :], False, lossless, True, self._generated)
        self._remember()
        self._candidate = list(accepted)
        if verification.next_token is not None and len(accepted) < limit:
            self._choose(verification.next_token)
        self._holds_for = list(prompt)
        self._lossless = lossless
        return len(accepted), source[len(accepted) :]

    def _choose(self, token: int) -> None:
        self._candidate.append(token)
        self._generated += 1

    def _ended(self, limit: int) -> bool:
        return len(self._candidate) >= limit or (bool(self._candidate) and self._is_end(self._candidate[-1]))

    def _progress(self, kept: int, rejected: tuple[int, ...], limit: int) -> Progress:
        tokens = self._candidate
        return Progress(
            kept=tuple(tokens[:kept]),
            new=tuple(tokens[kept:]),
            rejected=rejected,
            ended=self._ended(limit),
            lossless=self._lossless,
            generated=self._generated,
        )
