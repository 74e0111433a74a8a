"""What a person may choose of where and how a model is held: told at once where it is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from predtui.config import load as load_settings
from predtui.errors import PredtuiError
from predtui.llm.llamacpp.engine import request_of
from predtui.llm.load import load
from predtui.llm.placement import USUAL, Placement
from predtui.settings import LlmSettings, safest_model


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"split": "a,b"}, "share of each GPU"),
        ({"split": "0,0"}, "share of each GPU"),
        ({"split": "-1,2"}, "share of each GPU"),
        ({"split": "nan"}, "share of each GPU"),
        ({"gpu_layers": "all"}, "auto, -1 for all, or a number"),
        ({"batch": 7}, "32 to 256"),
        ({"flash": "off", "kv": "q8_0"}, "needs flash attention"),
        ({"device": "CUDA9"}, "none that llama.cpp has here"),
    ],
)
def test_a_choice_that_is_none_is_one_line_before_anything_is_loaded(
    choice: dict[str, Any], words: str, tiny_path: Path
) -> None:
    with pytest.raises(PredtuiError, match=words) as refused:
        load(str(tiny_path), placement=Placement(**choice))
    assert len(str(refused.value).splitlines()) == 1


def test_shares_are_numbers() -> None:
    assert Placement(split=" 3, 1.5 ").shares() == (3.0, 1.5)
    assert USUAL.shares() == ()


@pytest.mark.parametrize(
    "chosen",
    [
        Placement(mapped=False),
        Placement(batch=32),
        Placement(kv="q8_0"),
        Placement(kv="q4_0"),
        Placement(flash="off"),
        Placement(flash="on"),
        Placement(gpu_layers="0"),
        Placement(gpu_layers="-1", device="cpu"),
    ],
    ids=str,
)
def test_every_choice_runs_and_the_logits_are_near_the_usual_ones(chosen: Placement, tmp_path: Path) -> None:
    from tests.tiny_gguf import write

    path = write(tmp_path / "tiny.gguf", width=32)
    rows = []
    for placement in (USUAL, chosen):
        loaded = load(str(path), threads=1, placement=placement)
        rows.append(loaded.model.forward(list(range(100)), last=60).logits)
        loaded.model.close()
    coarse = {"q8_0": 0.3, "q4_0": 6.0}.get(chosen.kv, 0.05)
    assert abs(rows[0] - rows[1]).max() < coarse * rows[0].std()
    if chosen.kv != "f16":
        assert abs(rows[0] - rows[1]).max() > 0


def test_settings_reach_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[llm]\ngpu_layers = 12\nkv_type = "q8_0"\nmmap = false\nbatch = 64\ntensor_split = "3,1"\n')
    placement = request_of(load_settings(file=file).llm).placement
    assert placement == Placement(gpu_layers="12", kv="q8_0", mapped=False, batch=64, split="3,1")
    assert request_of(LlmSettings()).placement == USUAL
    assert request_of(load_settings({"llm.gpu_layers": -1}).llm).placement.gpu_layers == "-1"
    with pytest.raises(PredtuiError, match="not one of auto, -1, 0, N"):
        load_settings({"llm.gpu_layers": "-7"})


def test_the_safest_way_leaves_the_gpu_alone() -> None:
    safest = Placement.of(safest_model(LlmSettings(kv_type="q4_0", gpu_layers="-1")))
    assert (safest.gpu_layers, safest.kv, safest.devices()) == ("0", "f16", ("cpu",))


@pytest.mark.parametrize(("mapped", "locked"), [(True, False), (True, True), (False, True), (False, False)])
def test_mapping_and_locking_are_told_to_every_version_of_the_bindings(mapped: bool, locked: bool) -> None:
    import llama_cpp

    from predtui.llm.llamacpp.parameters import hold

    class Former:
        use_mmap = use_mlock = None

    former: Any = Former()
    hold(former, mapped, locked)
    assert (former.use_mmap, former.use_mlock) == (mapped, locked)
    params = llama_cpp.llama_model_default_params()
    usual = params.load_mode
    hold(params, mapped, locked)
    modes = {(True, True): 3, (False, True): 2, (False, False): 0}
    assert params.load_mode == modes.get((mapped, locked), usual)
