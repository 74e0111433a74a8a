"""Which engine runs a model that is named."""

from __future__ import annotations

import pytest

from predtui.tui.launch import engine_of


@pytest.mark.parametrize(
    ("model", "engine", "runs"),
    [
        ("pocket", "torch", "torch"),
        ("pocket", "llamacpp", "llamacpp"),
        ("pocket-cllm", "torch", "llamacpp"),
        ("/models/Big.GGUF", "torch", "llamacpp"),
        ("/", "llamacpp", "torch"),
    ],
)
def test_a_model_is_run_by_what_can_read_it(model: str, engine: str, runs: str) -> None:
    assert engine_of(model, engine) == runs
