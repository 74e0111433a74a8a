"""The numpy engine against the others: same weights, same logits, same replies; and what it refuses."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import inspect, load
from predtui.models.shipped import POCKET, POCKET_DRAFT, place
from predtui.state.events import Message
from tests import tiny_folder

PROMPTS = ("what is the capital of france", "how do i make tea", "what is 12 times 7", "é <|end|> 🙂 tell me a joke")
BFLOAT16 = 0.4
"""Logits of deviation 4 differ by less where llama.cpp rounds activations to bfloat16, as the weights are."""


def reply(loaded: LoadedModel, prompt: list[int]) -> list[int]:
    tokens = list(prompt)
    while len(tokens) < len(prompt) + 40:
        token = int(loaded.model.forward(tokens).logits[0].argmax())
        if loaded.tokenizer.is_end(token):
            break
        tokens.append(token)
    return tokens


@pytest.mark.parametrize("name", [POCKET, POCKET_DRAFT])
def test_the_shipped_models_answer_as_in_llama_cpp(name: str) -> None:
    plain, compiled = load(name, "numpy"), load(name, "llamacpp", threads=1)
    assert (plain.name, plain.parameters, plain.pad) == (compiled.name, compiled.parameters, compiled.pad)
    for prompt in PROMPTS:
        tokens = compiled.prompt_tokens([Message("user", prompt)])
        assert plain.prompt_tokens([Message("user", prompt)]) == tokens
        said = reply(compiled, tokens)
        assert reply(plain, tokens) == said
        assert plain.tokenizer.decode(said) == compiled.tokenizer.decode(said)
        rows = plain.model.forward(said, len(said)).logits, compiled.model.forward(said, len(said)).logits
        np.testing.assert_allclose(*rows, atol=BFLOAT16)
    plain.model.close()
    compiled.model.close()


@pytest.mark.parametrize("options", [{}, {"num_key_value_heads": 1, "rope_theta": 500.0}])
def test_logits_are_those_of_torch_in_float32(options: dict[str, object], tmp_path: Path) -> None:
    folder = tiny_folder.write(tmp_path / "tiny", **options)
    one, other = load(str(folder), "numpy"), load(str(folder), "torch")
    tokens = random.Random(0).choices(range(256), k=80)
    np.testing.assert_allclose(one.model.forward(tokens, 80).logits, other.model.forward(tokens, 80).logits, atol=1e-3)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model_type": "qwen3"}, "qwen3"),
        ({"attention_bias": True}, "bias"),
        ({"rope_parameters": {"rope_type": "llama3"}}, "scaled"),
        ({"hidden_act": "gelu"}, "gelu"),
        ({"num_hidden_layers": 99}, "model.layers"),
    ],
)
def test_what_it_does_not_compute_is_refused(change: dict[str, object], reason: str, tmp_path: Path) -> None:
    shutil.copytree(place(POCKET_DRAFT), tmp_path / "changed")
    file = tmp_path / "changed" / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(PredtuiError, match=reason):
        load(str(tmp_path / "changed"), "numpy")


@pytest.mark.parametrize("name", ["config.json", "model.gguf", "tokenizer.json"])
def test_a_damaged_folder_is_an_error_that_names_it(name: str, tmp_path: Path) -> None:
    for damage in (b"", b"\xff" * 40):
        folder = tmp_path / str(len(damage))
        shutil.copytree(place(POCKET_DRAFT), folder)
        (folder / name).write_bytes(damage)
        with pytest.raises(PredtuiError, match=str(folder)):
            load(str(folder), "numpy")
    with pytest.raises(PredtuiError, match="nowhere"):
        inspect(str(tmp_path / "nowhere"), "numpy")


def test_a_line_on_a_folder_reads_no_weights() -> None:
    assert "8 layers" in inspect(POCKET, "numpy")
