"""A server of text in memory."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from predtui.llm.base import LoadedModel
from predtui.llm.remote.base import About, Finish
from predtui.llm.remote.pieces import loaded
from predtui.llm.scripted import CharacterTokenizer, MarkedTemplate, ScriptedModel
from predtui.llm.waiting import Waiting
from predtui.state.events import Message
from tests.predgen.distant import Network


class Chat:
    """A ``ChatServer`` whose text comes in chunks of ``chunk`` characters."""

    unread = 0

    def __init__(self, seed: int, continues: bool, chunk: int, network: Network) -> None:
        self.about = About("double", "folder/far")
        self.continues = continues
        self._tokenizer, self._chunk, self._network = CharacterTokenizer(), chunk, network
        self._model = ScriptedModel(seed, context=4096)

    def chat(self, messages: Sequence[Message], limit: int) -> Generator[str, None, Finish]:
        *before, last = messages
        begun = last.content if last.role == "assistant" else ""
        assert self.continues or not begun
        text = MarkedTemplate().render(before if begun else messages) + begun
        context, held = self._tokenizer.encode(text, special=True), ""
        self._network.begin()
        try:
            for _ in range(limit * 8):
                context.append(self._model.forward(context)[0].argmax())
                if self._tokenizer.is_end(context[-1]):
                    yield from self._sent(held)
                    return "stop"
                held += self._tokenizer.decode(context[-1:])
                if len(held) >= self._chunk:
                    yield from self._sent(held)
                    held = ""
            return "length"
        finally:
            self._network.end()

    def think(self, mode: str) -> str:
        """It never does."""
        return "the model was not seen to think"

    def _sent(self, text: str) -> Generator[str, None, None]:
        self._network.waited()
        if text:
            yield text

    def close(self) -> None:
        """Nothing is open."""


def chatting(seed: int, continues: bool, chunk: int, network: Network) -> LoadedModel:
    return loaded(Chat(seed, continues, chunk, network), "http://far", 4096, Waiting())
