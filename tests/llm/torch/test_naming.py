"""What a network calls its cache: by any name that a release of transformers has given it, and none."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from predtui.errors import PredtuiError
from predtui.llm.load import load
from tests import tiny_folder

transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize("name", ["cache", "past_key_values", "cache_params"])
def test_every_release_is_asked_by_its_own_name(name: str) -> None:
    from predtui.llm.torch.naming import cache_name

    taking: dict[str, object] = {}
    exec(f"def forward(input_ids, {name}=None): ...", taking)
    assert cache_name(SimpleNamespace(forward=taking["forward"])) == name


def test_a_network_without_a_cache_is_refused(tmp_path: Path) -> None:
    folder = tiny_folder.write(tmp_path / "tiny")
    words = transformers.AutoTokenizer.from_pretrained(folder)
    config = transformers.OpenAIGPTConfig(vocab_size=len(words), n_embd=32, n_layer=2, n_head=2)
    transformers.OpenAIGPTLMHeadModel(config).save_pretrained(folder)
    with pytest.raises(PredtuiError, match="OpenAIGPTLMHeadModel takes no key-value cache"):
        load(str(folder), "torch")
