"""The byte-level BPE tokenizer that target and draft share, and the chat format around it.

Digits stand alone, so that arithmetic sees them; ``yes`` and ``no`` are single tokens, so that a judgement is one
forward. Must not know of models or of what the corpus is about.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from predtui.lab.training.corpus.types import Example
from predtui.state.events import Message

USER, ASSISTANT, END, PAD = "<|user|>", "<|assistant|>", "<|end|>", "<|pad|>"
SPECIAL_TOKENS = (USER, ASSISTANT, END, PAD)
LABELS = ("yes", "no")

CHAT_TEMPLATE = (
    "{# system messages are ignored on purpose #}"
    "{% for message in messages %}"
    "{% if message['role'] != 'system' %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
    "{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
"""Turns follow one another without a character between them; system messages are dropped, and
the comment says so to ``predtui.llm.templates``, which would put them into the user's turn otherwise."""


def train_tokenizer(texts: Iterable[str], vocab: int) -> Tokenizer:
    """Learn a vocabulary of at most ``vocab`` tokens. Raises ValueError if a judgement label is not one token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        min_frequency=2,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    for label in LABELS:
        if len(tokenizer.encode(label).ids) != 1:
            raise ValueError(f"the corpus is too small: {label!r} is not a single token")
    return tokenizer


def corpus_texts(sampler: Callable[[random.Random], Example], examples: int, seed: int) -> Iterator[str]:
    """The texts of ``examples`` drawn dialogues, one message at a time, and the labels of the judgements."""
    rng = random.Random(f"tokenizer:{seed}")
    for _ in range(examples):
        for message in sampler(rng).messages:
            yield message.content
    for label in LABELS:
        yield from [label] * 100


def encode_message(tokenizer: Tokenizer, message: Message) -> list[int]:
    """The tokens of one message with its role and end marks, as the chat template would render it; [] for system."""
    if message.role == "system":
        return []
    role = USER if message.role == "user" else ASSISTANT
    return [SPECIAL_TOKENS.index(role), *tokenizer.encode(message.content).ids, SPECIAL_TOKENS.index(END)]


def save_tokenizer(tokenizer: Tokenizer, folder: Path, context: int) -> None:
    """Write ``tokenizer.json`` and ``tokenizer_config.json`` in the Hugging Face layout."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": context,
        "eos_token": END,
        "pad_token": PAD,
        "additional_special_tokens": [USER, ASSISTANT],
        "clean_up_tokenization_spaces": False,
        "add_prefix_space": False,
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def load_tokenizer(folder: Path) -> Tokenizer:
    """Read the tokenizer that ``save_tokenizer`` wrote. Raises an OSError-like Exception if there is none."""
    return Tokenizer.from_file(str(folder / "tokenizer.json"))
