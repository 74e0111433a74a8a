"""The reflection verifier: the model is asked whether the answer so far fits (PredGen, section 3.1.2).

The question is put as the next turn of the conversation, so prompt and candidate are evaluated once, for the judgement
and for the token that follows alike. Must not know of stages, or of how the rest of the reply is generated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from predtui.decoding.base import Sampler, Verification, Verifier
from predtui.llm.base import LoadedModel
from predtui.predgen.prompts import JUDGE_QUESTION
from predtui.state.events import Message
from predtui.text import first_sentence

_MARK = "ANSWER"


class ReflectionVerifier:
    """P(yes) against P(no), in one forward: yes takes the whole first sentence, no leaves it to ``otherwise``.

    Lossy where it says yes. What does not fit the model's context beside the question is left to ``otherwise`` too.
    """

    def __init__(self, loaded: LoadedModel, sampler: Sampler, otherwise: Verifier) -> None:
        self._model = loaded.model
        self._tokenizer = loaded.tokenizer
        self._sampler = sampler
        self._otherwise = otherwise
        self._question = _question(loaded)
        self._yes, self._no = ([*_openings(loaded, word)] for word in ("yes", "no"))

    def verify(
        self,
        prompt: Sequence[int],
        candidate: Sequence[int],
        others: Sequence[Sequence[int]] = (),
        spare: float = math.inf,
    ) -> Iterator[Verification]:
        judged = self._first_sentence(candidate)
        asked = [*prompt, *judged, *self._question]
        if not judged or len(asked) > self._model.context_size:
            yield from self._otherwise.verify(prompt, candidate, others, spare)
            return
        rows = self._model.forward(asked, last=len(self._question) + 1)
        if max(map(rows[-1].logprob, self._yes)) <= max(map(rows[-1].logprob, self._no)):
            yield from self._otherwise.verify(prompt, candidate, others, spare)
            return
        yield Verification(tuple(judged), self._sampler.choose(rows[0], len(judged)), lossless=False)

    def _first_sentence(self, candidate: Sequence[int]) -> list[int]:
        """The tokens up to the end of the first sentence; all, but for an end token, where it has none yet."""
        tokens = [token for token in candidate if not self._tokenizer.is_end(token)]
        sentence = first_sentence(self._tokenizer.decode(tokens), complete=len(tokens) < len(candidate))
        if sentence is None:
            return tokens
        for count in range(1, len(tokens)):
            if self._tokenizer.decode(tokens[:count]).strip() == sentence.strip():
                return tokens[:count]
        return tokens


def _question(loaded: LoadedModel) -> list[int]:
    """What follows an answer, in the model's own template: its end, the question, the beginning of the judgement."""
    messages = [Message("user", "?"), Message("assistant", _MARK), Message("user", JUDGE_QUESTION)]
    rendered = loaded.template.render(messages)
    return loaded.tokenizer.encode(rendered.rpartition(_MARK)[2], special=True)


def _openings(loaded: LoadedModel, word: str) -> Iterator[int]:
    """The first tokens that ``word`` may begin with."""
    for spelling in (word, word.capitalize(), word.upper(), f" {word}", f" {word.capitalize()}"):
        yield from loaded.tokenizer.encode(spelling)[:1]
