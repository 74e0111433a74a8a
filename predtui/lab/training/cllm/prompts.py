"""Conversations that break off: a random round is the last, and its query is cut (PredGen, section 3.4).

Must not know of networks: text comes in, the tokens of a prompt go out.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from predtui.errors import PredtuiError, reason
from predtui.files import LARGEST_CORPUS, parse_json, read_text
from predtui.lab.training.corpus.compose import sample
from predtui.llm.base import LoadedModel
from predtui.predgen.prompts import SYSTEM_PROMPT
from predtui.state.events import Message

_ROLES = ("system", "user", "assistant")
_FORM = 'A line is {"messages": [{"role": .., "content": ..}, ..]} or {"prompt": ..}.'
_MARK = "\ufeff"
"""Of byte order, before the first line, as some editors write it."""
_MISSES = 1000
"""Prompts in a row that are too long."""

Conversation = Sequence[Message]


def read(path: Path) -> list[Conversation]:
    """The conversations of a JSONL file. Raises PredtuiError that names the line which is none."""
    return [conversation for conversation, _data, _where in lines(path)]


def lines(path: Path) -> list[tuple[Conversation, dict[str, Any], str]]:
    """The same, each with all that its line says, and where that stands."""
    found = []
    for number, line in enumerate(_text(path).split("\n"), 1):  # what else ends a line may stand within a JSON string
        if line.strip():
            where = f"{path}, line {number}"
            found.append((*_conversation(line, where), where))
    if not found:
        raise PredtuiError(f"The file {path} holds no prompts.", _FORM)
    return found


def digest(path: Path | None) -> str:
    """Tells the conversations of one file from those of another, and of the pocket corpus. Raises PredtuiError for a
    file that cannot be read."""
    return "pocket" if path is None else hashlib.sha256(_text(path).encode()).hexdigest()


def source(path: Path | None) -> str:
    """Where they come from, for a card."""
    return "the pocket corpus" if path is None else path.name


def endless(conversations: Sequence[Conversation], seed: int) -> Iterator[tuple[random.Random, Conversation]]:
    """Conversations at random for ever, each with the generator to draw from; of the pocket corpus where there are
    none. The n-th is a function of ``seed`` and n alone."""
    number = 0
    while True:
        rng = random.Random(f"cllm:{seed}:{number}")
        yield rng, rng.choice(conversations) if conversations else sample(rng).messages
        number += 1


def broken_off(loaded: LoadedModel, conversation: Conversation, whole: float, rng: random.Random) -> list[int]:
    """The prompt's tokens with a random user message as the last; its text is cut to k ~ U[0, L] of its tokens, but
    for a share ``whole`` of the draws."""
    last = rng.choice([n for n, message in enumerate(conversation) if message.role == "user"])
    query = conversation[last].content
    if rng.random() >= whole:
        tokens = loaded.tokenizer.encode(query)
        query = loaded.tokenizer.decode(tokens[: rng.randint(0, len(tokens))])
    head = [message for message in conversation[:last] if message.role != "system"]
    system = next((m for m in conversation if m.role == "system"), Message("system", SYSTEM_PROMPT))
    return loaded.prompt_tokens([system, *head, Message("user", query)])


def that_fit(loaded: LoadedModel, path: Path | None, seed: int, whole: float, reply: int) -> Iterator[list[int]]:
    """Prompts without end, of the file's conversations or of the pocket corpus, that leave room for ``reply`` tokens;
    ``whole`` as in ``broken_off``. Raises PredtuiError as ``read``, and where none of many fits."""
    conversations, room = read(path) if path else [], loaded.model.context_size - reply
    if room < 1:
        size = f"The context of {loaded.name} has {loaded.model.context_size} tokens"
        raise PredtuiError(f"{size}: a reply of {reply} leaves no room for a prompt.", "Train for another model.")
    misses = 0
    for rng, conversation in endless(conversations, seed):
        tokens = broken_off(loaded, conversation, whole, rng)
        if len(tokens) <= room:
            misses = 0
            yield tokens
        elif (misses := misses + 1) > _MISSES:
            few = f"none of {_MISSES:,} has {room} tokens or fewer"
            raise PredtuiError(f"No prompt leaves room for a reply: {few}.", "Give shorter ones with --prompts.")


def _text(path: Path) -> str:
    try:
        return read_text(path, LARGEST_CORPUS).removeprefix(_MARK)
    except (OSError, ValueError) as error:
        raise PredtuiError(f"The prompts {path} cannot be read: {reason(error)}.", _FORM) from error


def _conversation(line: str, where: str) -> tuple[Conversation, dict[str, Any]]:
    try:
        data = parse_json(line)
        messages = data["messages"] if "messages" in data else [{"role": "user", "content": data["prompt"]}]
        found = [Message(item["role"], item["content"]) for item in messages]
    except (ValueError, KeyError, TypeError) as error:
        raise PredtuiError(f"{where}: no conversation.", _FORM) from error
    if not all(isinstance(message.content, str) for message in found):
        raise PredtuiError(f"{where}: what somebody says is no text.", _FORM)
    if not any(m.role == "user" for m in found) or any(m.role not in _ROLES for m in found):
        raise PredtuiError(f"{where}: no user speaks, or a role is unknown.", _FORM)
    return found, data
