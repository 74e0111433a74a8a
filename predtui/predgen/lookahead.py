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

Steps = Generator[Event | None, None, None]


class LookAhead:
    """Keeps its guesses of the user's words from one letter to the next, for as long as the letters agree."""

    def __init__(self, loaded: LoadedModel, window: Window, speculator: Speculator, count: int, longest: int) -> None:
        """``count``: how many guesses are answered beside the words so far. ``longest``: tokens of a reply, where its
        first sentence does not end before."""
        self._tokenizer = loaded.tokenizer
        self._window, self._speculator = window, speculator
        self._completer = Completer(loaded, window, count)
        self._count, self._longest = count, longest
        self._guesses: list[str] = []

    def work(self, history: Sequence[Message], heard: Transcript, stale: Stale) -> Steps:
        """Steps of one forward at most, each with what is to be told of it. Raises Preempted as the model does."""
        if heard.text != heard.prompt:
            yield from self._answer(history, heard.text, stale)
        self._guesses = [guess for guess in self._guesses if guess != heard.text and guess.startswith(heard.text)]
        for guess in self._guesses:
            yield from self._answer(history, guess, stale)
        said = heard.text.removesuffix(heard.begun).rstrip()
        if not said or len(self._guesses) >= self._count:
            return
        words = yield from self._completer.words(history, said, heard.begun)
        new = [f"{said} {word}" for word in words]
        new = [guess for guess in new if guess != heard.text and guess not in self._guesses]
        for guess in new[: self._count - len(self._guesses)]:
            self._guesses.append(guess)
            yield from self._answer(history, guess, stale)

    def _answer(self, history: Sequence[Message], prompt: str, stale: Stale) -> Steps:
        """The first sentence of the reply to ``prompt``, to be spoken ahead."""
        tokens = self._window.tokens(history, prompt)
        if self._sentence(self._speculator.held(tokens)) is not None:
            return
        for progress in self._speculator.advance(tokens, stale, ahead=True):
            sentence = self._sentence(progress.tokens)
            if sentence is not None:
                yield SentenceAhead(text=sentence)
                yield Future(prompt=prompt, sentence=sentence)
                return
            yield None
            if len(progress.tokens) >= self._longest:
                return

    def _sentence(self, reply: Sequence[int]) -> str | None:
        ended = bool(reply) and self._tokenizer.is_end(reply[-1])
        return first_sentence(self._tokenizer.decode(reply), ended)
