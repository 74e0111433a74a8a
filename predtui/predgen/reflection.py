"""The reflection verifier: the model is asked whether the answer so far fits (PredGen, section 3.1.2).

The question is put as the next turn of the conversation, so prompt and candidate are evaluated once, for the judgement
and for the token that follows alike. Must not know of stages, or of how the rest of the reply is generated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from predtui.decoding.accept import ExactMatch, Walk, verify
from predtui.decoding.base import Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.llm.base import LoadedModel
from predtui.llm.rows import Rows
from predtui.llm.thinking import fragment
from predtui.predgen.prompts import JUDGE_QUESTION
from predtui.predgen.reply_text import ReplyText
from predtui.state.events import Message
from predtui.text import first_sentence

_MARK = "ANSWER"


class Reflection(ExactMatch):
    """P(yes) against P(no), in one forward: yes accepts the whole first sentence, no leaves it to exact match.

    Lossy where it says yes. What does not fit the model's context beside the question is left to exact match too.
    """

    def __init__(self, loaded: LoadedModel, sampler: Sampler, _number: int = 0) -> None:
        """Raises PredtuiError where the model does not tell how likely yes and no are."""
        loaded.require("The reflection verifier", logprob=True, exact=True)
        super().__init__(sampler)
        self._model, self._is_end = loaded.model, loaded.tokenizer.is_end
        self._text = ReplyText(loaded.tokenizer, loaded.stops, loaded.thinking).text
        self._sampler = sampler
        self._question = _question(loaded)
        self._yes, self._no = ([*_openings(loaded, word)] for word in ("yes", "no"))

    def judge(self, prompt: Sequence[int], candidate: Sequence[int]) -> Verification | None:
        judged = self._first_sentence(candidate)
        asked = Draft((*judged, *self._question), source="reflection")
        if not judged or len(prompt) + len(asked.tokens) > self._model.context_size:
            return None
        rule = _Judgement(self._sampler, len(judged), self._yes, self._no)
        verification = verify(self._model, prompt, asked, rule, 0, self._is_end)
        return verification if verification.path else None

    def _first_sentence(self, candidate: Sequence[int]) -> list[int]:
        """The tokens up to the end of the first sentence; all, but for an end token, where it has none yet; none while
        there is nothing but a thought."""
        tokens = [token for token in candidate if not self._is_end(token)]
        text = self._text(tokens)
        sentence = first_sentence(text, complete=len(tokens) < len(candidate))
        if sentence is None:
            return tokens if text.strip() else []
        for count in range(1, len(tokens)):
            if self._text(tokens[:count]).strip() == sentence.strip():
                return tokens[:count]
        return tokens


class _Judgement:
    """Accepts all of the ``judged`` tokens where the rest of the draft, the question, is answered by yes."""

    def __init__(self, sampler: Sampler, judged: int, yes: list[int], no: list[int]) -> None:
        """``yes``, ``no``: the tokens that begin the answer."""
        self._sampler, self._judged, self._yes, self._no = sampler, judged, yes, no

    def walk(self, draft: Draft, rows: Rows, position: int) -> Walk:
        answer = rows[draft.evaluated]
        yes, no = (max(map(answer.logprob, tokens)) for tokens in (self._yes, self._no))
        accepted = self._judged if yes > no else 0
        return Walk([*range(accepted)], self._sampler.choose(rows[accepted], position + accepted), lossless=False)


def _question(loaded: LoadedModel) -> list[int]:
    """What follows an answer, in the model's own template: its end, the question, the beginning of the judgement, which
    is given without a thought."""
    messages = [Message("user", "?"), Message("assistant", _MARK), Message("user", JUDGE_QUESTION)]
    rendered = loaded.template.render(messages)
    closing = loaded.thinking.closing if loaded.thinking else ""
    return fragment(loaded.tokenizer, rendered.rpartition(_MARK)[2] + closing)


def _openings(loaded: LoadedModel, word: str) -> Iterator[int]:
    """The first tokens that ``word`` may begin with."""
    for spelling in (word, word.capitalize(), word.upper(), f" {word}", f" {word.capitalize()}"):
        yield from loaded.tokenizer.encode(spelling)[:1]
