"""Answers ahead what the user may be about to say: the words so far as if they were all, then likely ends of them.

A forward a step, for time that nothing else needs; the replies stay as candidates. Must not know of queues, or of how a
candidate is verified.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial

from predtui.llm.base import LoadedModel, Stale
from predtui.predgen.algorithm import Prompt, Speculator
from predtui.predgen.lookahead.completion import Completer
from predtui.predgen.lookahead.marks import end_mark
from predtui.predgen.lookahead.userwords import UserWords
from predtui.predgen.lookahead.wordprior import shipped_prior
from predtui.predgen.reply_text import ReplyText
from predtui.predgen.window import Window
from predtui.state.events import Continuation, Event, Message, SentenceAhead, Transcript
from predtui.text import first_clause, first_sentence
from predtui.words import gap, unspaced

GUESSES = ("model", "user", "both")
"""Who says what comes next: the model, at a forward or more each; what is known of the user's words, at none; or these
where they are sure, and then the model."""
_SURE = 0.5
"""The share of the words that fit, from which on one need not be asked of the model."""
_LETTER = 2
"""Characters by which the text grows where a word is spelled: a letter, and perhaps the space before it."""
Steps = Generator[Event | None, None, None]
Risk = Callable[[Sequence[int]], float]
"""Seconds that may be lost on verifying for a prompt, which may turn out to be final meanwhile."""


@dataclass(frozen=True, slots=True)
class _Input:
    """What was said so far, and how long and how dearly to work on it."""

    history: Sequence[Message]
    text: str
    stale: Stale
    risk: Risk


class LookAhead:
    """Guesses the word that is being said, or the next one, and answers the likeliest guesses."""

    def __init__(
        self,
        loaded: LoadedModel,
        window: Window,
        speculator: Speculator,
        count: int,
        longest: int,
        guesses: str = "both",
        clause: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """``count``: how many guesses are answered. ``longest``: tokens of a reply, where its first sentence, or by
        ``clause`` its first clause, does not end before; thoughts do not count. ``guesses``: one of ``GUESSES``.
        ``now``: in seconds."""
        self._now, self._counters = now, loaded.model.counters
        self._reply = partial(ReplyText, loaded.tokenizer, loaded.stops, loaded.thinking)
        self._window, self._speculator = window, speculator
        self._completer = Completer(loaded, window, count)
        self._user = UserWords(shipped_prior()) if count and guesses != "model" else None
        self._guesses, self._count = guesses, count
        self._longest = longest
        self._first = first_clause if clause else first_sentence
        self._text = ""
        """What was said when this was last asked."""
        self.answering = ""
        """The prompt that is being answered ahead."""

    def read(self, prompt: Sequence[int]) -> int:
        """How many tokens of ``prompt`` this has left in the model's memory, at least."""
        return min(self._completer.read(prompt), self._speculator.read(prompt))

    def work(self, history: Sequence[Message], heard: Transcript, stale: Stale, risk: Risk) -> Steps:
        """What there is to do once ``heard`` has come, in steps of about one forward, each with what is to be sent of
        it. Raises Preempted as the model does."""
        self.answering = ""
        return self._steps(_Input(history, heard.text, stale, risk), heard.begun)

    def _steps(self, known: _Input, begun: str) -> Steps:
        """Replies to guesses, and to the words so far as if they were all.

        A word that comes at once, as a recogniser writes it, is likely whole, and is answered so before anything else.
        One that is being spelled is a guess like any other, at its place if the model takes it for whole, or the last.
        """
        spelled = known.text.startswith(self._text) and len(known.text) - len(self._text) <= _LETTER
        self._text = known.text
        if not spelled:
            yield from self._answer(known, known.text, speaks=True)
        answered: set[str] = set()
        if not unspaced(known.text[-1:]):
            yield from self._goes_on(known, begun, spelled, answered)
        yield from self._guess(known, known.text, spelled, answered)

    def _goes_on(self, known: _Input, begun: str, spelled: bool, answered: set[str]) -> Steps:
        """Replies to likely words, where there is a space before a word."""
        before = known.text.removesuffix(begun)
        said = before.rstrip()
        space = gap(before[len(said) :]) or " "
        for word, share in self._users(known.history, said, begun):
            yield from self._guess(known, f"{said}{space}{word}".lstrip(), spelled, answered, share)
        if said and self._guesses != "user" and len(answered) < self._count:
            for word, share in (yield from self._completer.words(known.history, said, begun)):
                if len(answered) < self._count:
                    yield from self._guess(known, f"{said}{space}{word}", spelled, answered, share)

    def _users(self, history: Sequence[Message], said: str, begun: str) -> list[tuple[str, float]]:
        """The words that may be meant by what is known of the user's, where that is asked; the likeliest first, each
        with its share."""
        if self._user is None:
            return []
        self._user.learn(history)
        least = _SURE if self._guesses == "both" else 0.0
        return [(word, share) for word, share in self._user.words(said, begun, self._count) if share >= least]

    def _guess(self, known: _Input, prompt: str, spelled: bool, answered: set[str], share: float = 0.0) -> Steps:
        """Answer ``prompt`` with the mark that will end it, unless it is ``answered``; the first of them is the one
        that is likeliest to be spoken where a word is spelled."""
        prompt += end_mark(known.history, prompt)
        if prompt not in answered:
            first = not answered
            answered.add(prompt)
            yield from self._answer(known, prompt, spelled and first, share)

    def _answer(self, known: _Input, prompt: str, speaks: bool, share: float = 0.0) -> Steps:
        """The first sentence of the reply to ``prompt``, the likeliest to be spoken where it ``speaks``."""
        self.answering = prompt
        tokens = self._window.tokens(known.history, prompt, guess=True)
        reply = self._reply()
        sentence = self._sentence(self._speculator.candidate_for(tokens), reply)
        if sentence is None:
            forwards, seconds = 0, 0.0
            before, start = self._counters.forwards, self._now()
            for progress in self._speculator.advance(Prompt(tokens, known.stale, True, known.risk(tokens))):
                forwards += self._counters.forwards - before
                seconds += self._now() - start
                yield None
                before, start = self._counters.forwards, self._now()
                if progress.verifying:
                    continue
                sentence = self._sentence(progress.tokens, reply)
                if sentence is not None or len(progress.tokens) - progress.before >= self._longest:
                    break
            if sentence is not None:
                yield Continuation(prompt=prompt, sentence=sentence, forwards=forwards, ms=seconds * 1000, share=share)
        if sentence is not None:
            yield SentenceAhead(text=sentence) if speaks else SentenceAhead(others=(sentence,))

    def _sentence(self, tokens: Sequence[int], reply: ReplyText) -> str | None:
        return self._first(reply.text(tokens), reply.over(tokens))
