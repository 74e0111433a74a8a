"""A GGUF file as transformers unpacks it: weights out of their quantised form, and the tokenizer that is in the file.

For what only torch does: training drafts and heads for a model of which there is no other copy, soft tokens. Where a
model only has to talk, llama.cpp runs the file as it is. Must not know of caches or logits.
"""

from __future__ import annotations

from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from predtui.errors import PredtuiError
from predtui.llm.base import LanguageModel, ModelRequest
from predtui.llm.gguf import read_header
from predtui.llm.llamacpp import compile as compiled
from predtui.llm.llamacpp import engine as llamacpp
from predtui.llm.unfit import refuse_unfit

PROBE, CONTEXT = 24, 64
"""Tokens that a network is tried with, from all over its vocabulary; and of a context that holds them."""
OTHER = 0.1
"""Nats by which what it says may differ from what llama.cpp says, whose products of quantised weights are rounded
(0.003 to 0.005 where SmolLM2's have four bits)."""


def network(file: Path, dtype: torch.dtype, attention: str | None) -> Any:
    """The network in ``file``, whose weights take ``dtype``. Raises PredtuiError for a file that is damaged or none to
    talk with, and transformers' own errors for an architecture that it does not unpack."""
    refuse_unfit(file, read_header(file).metadata)
    with redirect_stderr(StringIO()):  # transformers draws a bar there, whoever asks it not to
        return AutoModelForCausalLM.from_pretrained(
            file.parent, gguf_file=file.name, dtype=dtype, attn_implementation=attention, local_files_only=True
        )


def tokenizer(file: Path) -> Any:
    """The tokenizer in ``file``, with its chat template. Raises transformers' own errors."""
    return AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True)


def check(file: Path, model: LanguageModel) -> None:
    """Raises PredtuiError where ``model``, unpacked from ``file``, says something else than llama.cpp does: not all
    that a file tells of its network reaches transformers. Where there is no llama.cpp, nothing is known. ``model``
    remembers nothing of it."""
    if not compiled.available():
        return
    tokens = np.linspace(0, model.vocab_size - 1, PROBE).astype(int).tolist()
    plain = llamacpp.load(ModelRequest(str(file), threads=1, context=CONTEXT)).model
    try:
        rows = [one.forward(tokens, PROBE).logits for one in (model, plain)]
    finally:
        plain.close()
        model.forget()
    words = min(model.vocab_size, plain.vocab_size)
    said, meant = (_logprobs(logits[:, :words]) for logits in rows)
    gap = float((np.exp(meant) * (meant - said)).sum(axis=1).mean())
    if not gap < OTHER:
        raise PredtuiError(
            f"transformers makes another model of {file} than llama.cpp does ({gap:.1f} nats a token apart).",
            "Choose the model's folder in the Hugging Face layout, or --engine llamacpp.",
        )


def _logprobs(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Of rows [n, vocab]."""
    exact = logits.astype(np.float64)
    exact -= exact.max(axis=1, keepdims=True)
    found: npt.NDArray[np.float64] = exact - np.log(np.exp(exact).sum(axis=1, keepdims=True))
    return found
