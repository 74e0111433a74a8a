"""Answers ahead what the user may be about to say: the words so far as if they were all, then likely ends of them.

A forward a step, for time that nothing else needs; the replies stay as candidates. Must not know of queues, or of how a
candidate is verified.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from predtui.events import Event, Future, Message, SentenceAhead, Transcript
from predtui.llm.base import LoadedModel, Stale
from predtui.predgen.completion import Completer
from predtui.predgen.speculator import Speculator
from predtui.predgen.window import Window
from predtui.text import first_sentence

_LETTER = 2
"""Characters by which the text grows where a word is spelled: a letter, and perhaps the space before it."""
Steps = Generator[Event | None, None, None]


class LookAhead:
    """Guesses the word that is being said, or the next one, and answers the likeliest guesses."""

    def __init__(self, loaded: LoadedModel, window: Window, speculator: Speculator, count: int, longest: int) -> None:
        """``count``: how many guesses are answered. ``longest``: tokens of a reply, where its first sentence does not
        end before."""
        self._tokenizer = loaded.tokenizer
        self._window, self._speculator = window, speculator
        self._completer = Completer(loaded, window, count)
        self._longest = longest
        self._text = ""
        """What was heard before."""
        self.answering = ""
        """The prompt that is being answered ahead."""

    def read(self, prompt: Sequence[int]) -> int:
        """How many tokens of ``prompt`` this has left in the model's memory, at least."""
        return min(self._completer.read(prompt), self._speculator.read(prompt))

    def work(self, history: Sequence[Message], heard: Transcript, stale: Stale) -> Steps:
        """What there is to do once ``heard`` has come. Raises Preempted as the model does."""
        self.answering = ""
        return self._steps(history, heard, stale)

    def _steps(self, history: Sequence[Message], heard: Transcript, stale: Stale) -> Steps:
        """Steps of about one forward, each with what is to be told of it.

        A word that comes at once, as a recogniser writes it, is likely whole, and is answered so before anything else.
        One that is being spelled is a guess like any other, at its place if the model takes it for whole, or the last.
        """
        spelled = heard.text.startswith(self._text) and len(heard.text) - len(self._text) <= _LETTER
        self._text = heard.text
        if not spelled:
            yield from self._answer(history, heard.text, stale, speaks=True)
        said, words = heard.text.removesuffix(heard.begun).rstrip(), []
        if said:
            words = yield from self._completer.words(history, said, heard.begun)
        guesses = dict.fromkeys(f"{said} {word}" for word in words)
        for rank, guess in enumerate(guesses | {heard.text: None}):
            yield from self._answer(history, guess, stale, speaks=spelled and rank == 0)

    def _answer(self, history: Sequence[Message], prompt: str, stale: Stale, speaks: bool) -> Steps:
        """The first sentence of the reply to ``prompt``, to be spoken ahead where it ``speaks``."""
        self.answering = prompt
        tokens = self._window.tokens(history, prompt)
        sentence = self._sentence(self._speculator.held(tokens))
        if sentence is None:
            for progress in self._speculator.advance(tokens, stale, ahead=True):
                yield None
                if progress.verifying:
                    continue
                sentence = self._sentence(progress.tokens)
                if sentence is not None or len(progress.tokens) >= self._longest:
                    break
            if sentence is not None:
                yield Future(prompt=prompt, sentence=sentence)
        if sentence is not None and speaks:
            yield SentenceAhead(text=sentence)

    def _sentence(self, reply: Sequence[int]) -> str | None:
        ended = bool(reply) and self._tokenizer.is_end(reply[-1])
        return first_sentence(self._tokenizer.decode(reply), ended)
