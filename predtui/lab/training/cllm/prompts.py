"""Conversations that break off: a random round is the last, and its query is cut (PredGen, section 3.4).

Must not know of networks: text comes in, the tokens of a prompt go out.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from predtui.errors import PredtuiError, reason
from predtui.lab.training.corpus.compose import sample
from predtui.llm.base import LoadedModel
from predtui.predgen.prompts import SYSTEM_PROMPT
from predtui.state.events import Message

_ROLES = ("system", "user", "assistant")
_FORM = 'A line is {"messages": [{"role": .., "content": ..}, ..]} or {"prompt": ..}.'

Conversation = Sequence[Message]


def read(path: Path) -> list[Conversation]:
    """The conversations of a JSONL file. Raises PredtuiError that names the line which is none."""
    try:
        lines = _content(path).decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise _unreadable(path, error) from error
    found = [_conversation(line, f"{path}, line {n}") for n, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise PredtuiError(f"The file {path} holds no prompts.", _FORM)
    return found


def digest(path: Path | None) -> str:
    """Tells the conversations of one file from those of another, and of the pocket corpus. Raises PredtuiError for a
    file that cannot be read."""
    return "pocket" if path is None else hashlib.sha256(_content(path)).hexdigest()


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


def that_fit(loaded: LoadedModel, path: Path | None, seed: int, whole: float, room: int) -> Iterator[list[int]]:
    """Prompts without end, of the file's conversations or of the pocket corpus, of at most ``room`` tokens; ``whole``
    as in ``broken_off``. Raises PredtuiError as ``read``, and where none of many fits."""
    conversations = read(path) if path else []
    misses = 0
    for rng, conversation in endless(conversations, seed):
        tokens = broken_off(loaded, conversation, whole, rng)
        if len(tokens) <= room:
            misses = 0
            yield tokens
        elif (misses := misses + 1) > 1000:
            raise PredtuiError(f"No prompt leaves room for a reply: none has {room} tokens or fewer.")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError | UnicodeDecodeError) -> PredtuiError:
    return PredtuiError(f"The prompts {path} cannot be read: {reason(error)}.", _FORM)


def _conversation(line: str, where: str) -> Conversation:
    try:
        data = json.loads(line)
        messages = data["messages"] if "messages" in data else [{"role": "user", "content": data["prompt"]}]
        found = [Message(item["role"], str(item["content"])) for item in messages]
    except (ValueError, KeyError, TypeError) as error:
        raise PredtuiError(f"{where}: no conversation.", _FORM) from error
    if not any(m.role == "user" for m in found) or any(m.role not in _ROLES for m in found):
        raise PredtuiError(f"{where}: no user speaks, or a role is unknown.", _FORM)
    return found
