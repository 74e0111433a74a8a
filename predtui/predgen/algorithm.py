"""Algorithm 1 of PredGen on tokens: verify the candidate against the new prompt, keep what is accepted, generate on.

The paper's names: P_i is ``prompt``, R_i ``candidate``, k_i the number of tokens ``kept``. A_i, the sound of the first
sentence, is made by the speech stage of what the revision sends ahead. Lazy: whoever stops asking stops the work, and
every token computed so far stays in the candidate. Must not know of text, sentences, events or stages.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from predtui.decoding.base import Decoder
from predtui.decoding.draft import Verification
from predtui.decoding.guesses import rest
from predtui.llm.base import LoadedModel, Stale, common_prefix, never, untold
from predtui.predgen.candidates import CandidatePool
from predtui.predgen.reply_text import ReplyText
from predtui.predgen.verifiers import CandidateVerifier


@dataclass(frozen=True, slots=True)
class Progress:
    """The candidate for the present prompt is ``kept + new``; ``kept + rejected`` is the one that it came out of."""

    kept: tuple[int, ...]
    new: tuple[int, ...]
    rejected: tuple[int, ...]
    ended: bool
    """Whether nothing follows: the model ended the reply, or it is as long as it may be."""
    lossless: bool
    verifying: bool = False
    """Whether ``rejected`` is still to be verified: some of it may be accepted."""
    generated: int = 0
    """Tokens chosen in this turn so far, for whatever prompt: what was not committed of them was wasted."""
    before: int = 0
    """Tokens of the candidate before its answer: a thought."""

    @property
    def tokens(self) -> tuple[int, ...]:
        return self.kept + self.new


def unlimited(_progress: Progress) -> bool:
    """No candidate is long enough before its reply has ended."""
    return False


@dataclass(frozen=True, slots=True)
class Prompt:
    """``tokens``, fewer than the model's context, and how much work they are worth. ``ahead``: the prompt has not come,
    but may. ``spare``: the seconds that its verification may take for nothing. ``enough``: asked after each token,
    whether the candidate need not grow now; ``longest``: tokens of a candidate that is long enough in any case."""

    tokens: Sequence[int]
    stale: Stale = never
    ahead: bool = False
    spare: float = math.inf
    enough: Callable[[Progress], bool] = unlimited
    longest: int = sys.maxsize


class Speculator:
    """Holds a candidate reply from prompt to prompt, and those that it had for the last few prompts before."""

    def __init__(
        self,
        loaded: LoadedModel,
        decoder: Decoder,
        verifier: CandidateVerifier,
        reply_limit: int = 256,
        memory: int = 4,
        continuations: int = 0,
        watch: Callable[[Sequence[int]], object] = bool,
    ) -> None:
        """``decoder``: what regenerates the rest of a reply. ``reply_limit``: the most tokens of one, without thoughts.
        ``memory``: how many candidates are kept for prompts that have come, the present one included;
        ``continuations``: and for prompts that have not. ``watch``: told each prompt before its first forward."""
        self._model, self._tokenizer, self._is_end = loaded.model, loaded.tokenizer, loaded.tokenizer.is_end
        self._exact, self._distant = loaded.abilities.verifies == "exact", loaded.abilities.generates
        self._reply = ReplyText(loaded.tokenizer, loaded.stops, loaded.thinking)
        self._decoder, self.verifier, self._watch = decoder, verifier, watch
        self._reply_limit, self._longest = reply_limit, reply_limit + loaded.room_to_think
        self._candidates = CandidatePool(memory, continuations)
        self._prompt: Sequence[int] = ()
        self._generated = 0
        self._verified: list[Verification] = []
        """What the decoder is still to observe."""

    def run(self, prompts: Iterable[Prompt]) -> Iterator[Progress]:
        """Algorithm 1 over a stream of partial prompts, the last of them final and worked off to the reply's end."""
        self.reset()  # R_0 ← ""
        for prompt in prompts:  # while user input is not done: receive P_{i+1}
            yield from self.advance(prompt)

    def advance(self, prompt: Prompt) -> Iterator[Progress]:
        """One round, after each forward of the verification, then after each new token, until the reply ends or the
        work is stale. Raises Preempted as the model does, with the candidate as it was."""
        if prompt.stale():
            return
        self._watch(prompt.tokens)
        limit = min(self._longest, self._model.context_size - len(prompt.tokens))
        if self._candidates.recall(prompt.tokens, prompt.ahead):
            # Recognisers flip back and forth: each token of a candidate for this very prompt was chosen for it.
            yield from self._predictive_generate(len(self.candidate), prompt, (), limit)
        elif self._exact and (self.candidate or not self._distant):
            known = self._candidates.known(limit)
            kept, rejected = yield from self._verify(prompt, known, limit)  # k_i ← verifier(P_{i+1}, R_i)
            # R_{i+1} ← predictive_generate(k_i, ...)
            yield from self._predictive_generate(kept, prompt, rejected, limit, known)
        else:
            yield from self._regenerate(prompt, limit)  # both in one

    def _predictive_generate(
        self, kept: int, prompt: Prompt, rejected: tuple[int, ...], limit: int, known: Sequence[tuple[int, ...]] = ()
    ) -> Iterator[Progress]:
        """R_{i+1} out of R_i[:k_i]: the decoder goes on from prompt and accepted tokens (PredGen, section 3.2), with
        the candidates that were ``known`` as guesses."""
        self._prompt = prompt.tokens
        progress = self._progress(kept, rejected, limit)
        yield progress
        self._teach()
        if progress.ended or prompt.enough(progress):
            return
        candidate = self.candidate
        context, position = [*prompt.tokens, *candidate], len(candidate)
        guesses = [rejected[1:], *(rest(one, candidate) for one in known)]
        lossy = self._decoder.statistics.lossy
        for token in self._decoder.generate(
            context, min(limit, prompt.longest) - position, self._is_end, prompt.stale, position, guesses
        ):
            self._candidates.lossless &= self._decoder.statistics.lossy == lossy
            self._choose(token)
            progress = self._progress(kept, rejected, limit)
            yield progress
            if progress.ended or prompt.enough(progress):
                return

    def _teach(self) -> None:
        """Have the decoder observe the forwards of the verification: not before their outcome is out."""
        for verification in self._verified:
            self._decoder.observe(verification)
        self._verified = []

    def _verify(
        self, prompt: Prompt, known: Sequence[tuple[int, ...]], limit: int
    ) -> Generator[Progress, None, tuple[int, tuple[int, ...]]]:
        """k_i, and what was rejected of the candidate, of those ``known``, of which most was accepted."""
        accepted, lossless, source = tuple[int, ...](), True, known[0]
        self._verified = []
        for verification in self.verifier.verify(prompt.tokens, known, prompt.spare):
            self._verified.append(verification)
            accepted, lossless = accepted + verification.accepted, lossless and verification.lossless
            source = next((one for one in known if one[: len(accepted)] == accepted), known[0])
            if verification.more:
                yield Progress(accepted, (), source[len(accepted) :], False, lossless, True, self._generated)
        self._candidates.replace(prompt.tokens, accepted, lossless, prompt.ahead)
        following = verification.next_token
        if following is not None and not self._ended(accepted, limit) and not self._untold(following):
            self._choose(following)
        return len(accepted), source[len(accepted) :]

    def _regenerate(self, prompt: Prompt, limit: int) -> Iterator[Progress]:
        """R_{i+1} in one request, for an engine that says nothing of tokens that it is given: what it generates is kept
        as far as a candidate foretold it, and goes on from there. k_i is known as far as it has come."""
        known = self._candidates.known(limit)
        kept, rejected, progress = 0, known[0], None
        room = min(limit, prompt.longest)
        for token in self._decoder.generate(prompt.tokens, room, self._is_end, prompt.stale):
            if progress is None:
                self._prompt = prompt.tokens
                self._candidates.replace(prompt.tokens, (), True, prompt.ahead)
            self._choose(token)
            tokens = self.candidate
            foretold = [one for one in known if kept == len(tokens) - 1 and one[: len(tokens)] == tokens]
            if foretold:
                kept, rejected = len(tokens), max(foretold, key=len)[len(tokens) :]
            progress = replace(self._progress(kept, rejected, limit), verifying=kept == len(tokens) and bool(rejected))
            yield progress
            if progress.ended or prompt.enough(progress):
                break
        if progress is not None and progress.verifying:  # nobody will know
            yield replace(progress, rejected=(), verifying=False)

    @property
    def candidate(self) -> tuple[int, ...]:
        return tuple(self._candidates.present)

    def reset(self) -> None:
        """Forget all candidates: a new turn."""
        self._candidates.clear()
        self._prompt, self._generated = (), 0

    def verify_by(self, verifier: CandidateVerifier) -> None:
        """Verify with ``verifier`` from now on; what another one accepted is verified again."""
        self.verifier = verifier
        self._candidates.distrust()

    def candidate_for(self, prompt: Sequence[int]) -> tuple[int, ...]:
        """The candidate for exactly this prompt; empty where there is none."""
        return self._candidates.candidate_for(prompt)

    def read(self, prompt: Sequence[int]) -> int:
        """How many tokens of ``prompt`` are those of the one that was worked on last."""
        return common_prefix(self._prompt, prompt)

    def _untold(self, token: int) -> bool:
        """Whether the server alone knows if the reply ends with ``token``: the request that goes on with it tells."""
        return self._distant and untold(self._tokenizer, token)

    def _choose(self, token: int) -> None:
        self._candidates.present.append(token)
        self._generated += 1

    def _progress(self, kept: int, rejected: tuple[int, ...], limit: int) -> Progress:
        tokens = self.candidate
        lossless = self._candidates.lossless
        ended, before = self._ended(tokens, limit), len(tokens) - self._reply.answered(tokens)
        return Progress(tokens[:kept], tokens[kept:], rejected, ended, lossless, False, self._generated, before)

    def _ended(self, tokens: Sequence[int], limit: int) -> bool:
        """Whether nothing follows ``tokens``, of a reply that may have ``limit`` with its thoughts."""
        reply = self._reply
        return len(tokens) >= limit or reply.over(tokens) or reply.answered(tokens) >= self._reply_limit
