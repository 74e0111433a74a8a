"""The GGUF file holds the weights it was given, under llama.cpp's names, with the tokenizer and the shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader
from gguf.quants import dequantize

from predtui.lab.training.pocket.config import Shape
from predtui.lab.training.pocket.gguf import PRE_TOKENIZER, pocket_vocabulary, write_gguf
from predtui.lab.training.pocket.tokenizer import SPECIAL_TOKENS, corpus_texts, train_tokenizer
from predtui.llm.gguf import read_header
from tests.lab.training.pocket import toy


@pytest.mark.parametrize(("small", "near"), [(False, 0.01), (True, 0.02)])
def test_weights_and_words_come_back(tmp_path: Path, small: bool, near: float) -> None:
    import torch

    tokenizer = train_tokenizer(corpus_texts(toy.sample, 50, 0), 300)
    shape = Shape(hidden=32, layers=1, heads=2, ffn=32, vocab=tokenizer.get_vocab_size(), context=32)
    torch.manual_seed(0)
    embedding, norm = torch.randn(shape.vocab, 32), torch.rand(32)
    path = tmp_path / "model.gguf"
    weights = {"model.embed_tokens.weight": embedding, "model.norm.weight": norm}
    write_gguf(weights, pocket_vocabulary(tokenizer), shape, path, "x", small)
    read = GGUFReader(path)
    found = {tensor.name: dequantize(tensor.data, tensor.tensor_type) for tensor in read.tensors}
    assert found.keys() == {"token_embd.weight", "output_norm.weight"}
    assert np.array_equal(found["output_norm.weight"], norm.numpy())
    worst = np.abs(found["token_embd.weight"].reshape(embedding.shape) - embedding.numpy()).max()
    assert worst <= near * float(embedding.abs().max())
    words = read.fields["tokenizer.ggml.tokens"].contents()
    assert words[: len(SPECIAL_TOKENS)] == list(SPECIAL_TOKENS)
    assert len(words) == shape.vocab
    assert read.fields["tokenizer.ggml.pre"].contents() == PRE_TOKENIZER
    assert read.fields["llama.context_length"].contents() == shape.context
    assert read_header(path).weights
