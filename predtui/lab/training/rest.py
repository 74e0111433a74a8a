"""The datastore of retrieval-based speculative decoding: a corpus in the model's own tokens, sorted for retrieval.

A corpus is the pocket corpus, a text file (documents between blank lines), or a JSONL file with ``{"messages": [..]}``,
``{"turns": [..]}`` or ``{"text": ..}`` in a line. Must not know how drafts are made of it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from predtui.commands.console import console
from predtui.decoding import datastore
from predtui.errors import PredtuiError, reason
from predtui.files import LARGEST_CORPUS, read_text, resolve
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.models.shipped import POCKET
from predtui.state.events import Message

DIALOGUES = 20_000
"""Of the pocket corpus; none of those that the benches hold out."""


def build(corpora: Sequence[str], target: LoadedModel, limit: int = DIALOGUES, seed: int = 0) -> datastore.Datastore:
    """The datastore of all ``corpora`` in the tokens of ``target``; ``limit`` dialogues of the pocket corpus.

    Raises PredtuiError for a file that cannot be read, with its line, and for an empty corpus.
    """
    documents = (tokens for corpus in corpora for tokens in _documents(corpus, target, limit, seed))
    return datastore.build(documents, datastore.fingerprint(target))


def _documents(corpus: str, target: LoadedModel, limit: int, seed: int) -> Iterator[list[int]]:
    if corpus == POCKET:
        for messages in _pocket(limit, seed):
            yield _dialogue(target, messages)
        return
    path = resolve(corpus)
    try:
        text = read_text(path, LARGEST_CORPUS)
    except (OSError, ValueError) as error:
        raise PredtuiError(f"{path} cannot be read: {reason(error)}.") from error
    if path.suffix == ".jsonl":
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield _line(target, line, f"{path}, line {number}")
    else:
        for document in re.split(r"\n\s*\n", text):
            yield target.tokenizer.encode(document.strip())


def _line(target: LoadedModel, line: str, where: str) -> list[int]:
    try:
        content: Any = json.loads(line)
        if "messages" in content:
            return _dialogue(target, [Message(one["role"], one["content"]) for one in content["messages"]])
        return target.tokenizer.encode("\n".join(content["turns"]) if "turns" in content else content["text"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        expected = '{"messages": [{"role": .., "content": ..}, ..]}, {"turns": [..]} or {"text": ..}'
        raise PredtuiError(f"{where}: none of {expected}.") from error


def _pocket(limit: int, seed: int) -> Iterator[Sequence[Message]]:
    from predtui.lab.training.corpus import compose

    rng = random.Random(f"rest {seed}")
    found = 0
    while found < limit:
        example = compose.sample(rng)
        if example.kind != "judge":
            found += 1
            yield example.messages


def _dialogue(target: LoadedModel, messages: Sequence[Message]) -> list[int]:
    """A dialogue in the model's template, up to the end mark of its last message."""
    tokens = target.prompt_tokens(messages)
    ends = [index for index, token in enumerate(tokens) if target.tokenizer.is_end(token)]
    return tokens[: ends[-1] + 1] if ends else tokens


def main(corpora: Sequence[str], model: str, out: Path | None = None, limit: int = DIALOGUES, seed: int = 0) -> None:
    """Build, write to ``out`` or where the drafter looks by itself, and say how large it is."""
    target = load(model)
    try:
        store = build(corpora, target, limit, seed)
    finally:
        target.model.close()
    folder = out or datastore.default_folder()
    datastore.write(store, folder)
    size = (store.tokens.nbytes + store.places.nbytes) / 2**20
    console().print(f"{len(store.tokens):,} tokens, {size:.1f} MB, in {folder}", soft_wrap=True)
