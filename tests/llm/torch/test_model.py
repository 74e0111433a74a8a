"""The torch engine's own: folders of every kind of wrongness, caches of every kind, pocket weights in both engines."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.base import ModelRequest
from predtui.llm.load import load, preparing
from predtui.models.shipped import asset
from predtui.state.events import Message
from tests import tiny_folder

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_folder.write(tmp_path / "tiny")


def refused(folder: Path, match: str) -> None:
    with pytest.raises(PredtuiError, match=match) as caught:
        load(str(folder), "torch")
    assert caught.value.remedy


def test_what_is_no_folder_is_named(tmp_path: Path) -> None:
    refused(tmp_path / "gone", "gone")
    refused(Path("nobody/nothing-at-all"), "nothing-at-all")
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    refused(tmp_path / "model.gguf", r"model\.gguf is damaged or cut short")
    refused(tmp_path, r"config\.json")


def test_a_pickle_is_not_opened(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    refused(folder, r"pytorch_model\.bin is a pickle")
    with pytest.raises(PredtuiError) as caught:
        load(str(folder), "torch")
    assert "save_pretrained" in str(caught.value.remedy)
    (folder / "pytorch_model.bin").unlink()
    refused(folder, "no safetensors")


def test_weights_cut_short_anywhere_are_refused(folder: Path) -> None:
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    for point in (0, 7, 8, 200, *random.Random(0).sample(range(len(whole)), 20), len(whole) - 1):
        path.write_bytes(whole[:point])
        refused(folder, r"model\.safetensors is damaged")


def test_an_unknown_architecture_and_a_damaged_configuration_are_named(folder: Path) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "model_type": "nonesuch", "architectures": ["NoneSuch"]}))
    refused(folder, "nonesuch")
    path.write_text("{")
    refused(folder, r"config\.json is damaged")


def test_code_that_a_folder_brings_is_not_run(folder: Path) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    custom = {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.Model"}
    path.write_text(json.dumps({**config, "model_type": "evil", "auto_map": custom}))
    (folder / "evil.py").write_text(f"open({str(folder / 'ran')!r}, 'w')")
    refused(folder, "evil")
    assert not (folder / "ran").exists()


def test_a_damaged_tokenizer_is_named(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{")
    refused(folder, "tokenizer")


def test_a_model_larger_than_memory_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Little:
        available = 1000

    monkeypatch.setattr("psutil.virtual_memory", lambda: Little)
    refused(folder, "memory")


def test_what_loading_is_about_to_take_is_said_before(folder: Path) -> None:
    ((line, done),) = preparing("torch", ModelRequest(str(folder), context=512))
    assert re.fullmatch(rf"loading {re.escape(str(folder))}: 0 MB of weights, 0 MB of cache, .* free", line)
    assert done == -1
    (folder / "config.json").write_text("{")
    assert list(preparing("torch", ModelRequest(str(folder)))) == [(f"loading {folder}", -1)]


def test_without_a_template_the_plain_one(tmp_path: Path) -> None:
    loaded = load(str(tiny_folder.write(tmp_path / "plain", template=None)), "torch", threads=1)
    assert loaded.template.render([Message("user", "é?")]) == "User: é?\nAssistant:"


def test_sliding_windows_keep_what_a_shorter_prefix_needs(tmp_path: Path) -> None:
    from predtui.llm.torch.model import TorchModel

    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.MistralConfig(**shape, num_key_value_heads=2, vocab_size=99, sliding_window=8)
    model = TorchModel(transformers.MistralForCausalLM(config).eval())
    tokens = random.Random(0).choices(range(99), k=40)
    model.forward(tokens)
    back = model.forward(tokens[:20]).logits
    assert model.counters.tokens == 41
    model.forget()
    np.testing.assert_allclose(back, model.forward(tokens[:20]).logits, atol=1e-4)


def test_a_state_that_cannot_be_cut_is_built_anew() -> None:
    from predtui.llm.torch.model import TorchModel

    torch.manual_seed(0)
    shape = {"hidden_size": 16, "state_size": 4, "num_hidden_layers": 2, "vocab_size": 50}
    model = TorchModel(transformers.MambaForCausalLM(transformers.MambaConfig(**shape)).eval())
    tokens = random.Random(0).choices(range(50), k=12)
    model.forward(tokens)
    back = model.forward([*tokens[:6], 3]).logits
    model.forget()
    np.testing.assert_allclose(back, model.forward([*tokens[:6], 3]).logits, atol=1e-4)


@pytest.mark.skipif(not asset("pocket", "target", "config.json").is_file(), reason="the pocket model is not there")
def test_the_pocket_says_the_same_in_both_engines() -> None:
    there, here = load("pocket", "torch", threads=1), load("pocket", "llamacpp", threads=1)
    for text in ("what is the capital of france", "how far is 10 miles", "Tell me a joke!"):
        prompt = here.prompt_tokens([Message("user", text)])
        assert there.prompt_tokens([Message("user", text)]) == prompt
        replies = [list(generate(m.model, prompt, Greedy(), 60, m.tokenizer.is_end)) for m in (here, there)]
        assert replies[0] == replies[1]
        assert there.tokenizer.is_end(replies[1][-1])


def test_it_loads_where_a_stage_may_write_to_its_own_cache_alone(folder: Path, tmp_path: Path) -> None:
    """PyTorch makes a folder when it is imported."""
    code = (
        "import sys; from predtui.runtime.hosts.confinement import confine; from predtui.runtime.needs import needs;"
        "confine(needs()['llm']); from predtui.llm.load import load;"
        "print(load(sys.argv[1], 'torch', threads=1).device)"
    )
    own = {name: value for name, value in os.environ.items() if name != "TORCHINDUCTOR_CACHE_DIR"}
    own["PREDTUI_CACHE_DIR"] = str(tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], env=own, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.strip().split(",")[0]) in ((0, "cpu"), (0, "gpu")), done.stderr
