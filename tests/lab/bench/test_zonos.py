"""The Zonos bench on a tiny random checkpoint: every figure is there, and the checkpoint can be kept and used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from predtui.errors import PredtuiError
from predtui.lab.bench import methods, predgen, streams, zonos, zonos_random
from predtui.lab.bench.streams import Dialogue
from predtui.predgen.options import SpeculationOptions
from predtui.settings import TtsSettings
from predtui.tts.zonos.config import read_config
from predtui.tts.zonos.load import load
from predtui.tts.zonos.model import ZonosModel

FOUND = ("read_ms", "ms_a_frame", "ms_a_chunk_decoded", "first_chunk_ms", "real_time_factor", "weights_mb", "state_mb")


def test_each_variant_gets_its_figures(tmp_path: Path) -> None:
    out = tmp_path / "zonos.json"
    zonos.main(zonos.ZonosBench(TtsSettings(), "tiny", frames=30, repeats=1, keep=tmp_path), out)
    found = json.loads(out.read_text())
    assert [row["variant"] for row in found["rows"]] == ["float32", "int8 weights"]
    assert all(row[name] > 0 for row in found["rows"] for name in FOUND)
    assert found["rows"][1]["weights_mb"] < found["rows"][0]["weights_mb"]
    kept = TtsSettings(model=str(tmp_path / "zonos"), codec=str(tmp_path / "dac"))
    assert load(kept).rate == 44_100


def test_the_predgen_bench_counts_its_forwards(tmp_path: Path) -> None:
    zonos_random.write(tmp_path, zonos_random.SIZES["tiny"])
    speech = TtsSettings(engine="zonos", model=str(tmp_path / "zonos"), codec=str(tmp_path / "dac"), seconds=0.2)
    options = SpeculationOptions(engine="scripted", model="5", system="sys", reply_tokens=120)
    said = [Dialogue((streams.typed("why", rate=60_000.0),))]
    found = predgen.result(predgen.PredgenBench(methods.chosen("baseline"), said, ["5"], options, speech=speech))
    assert found["turns"][0]["speech_forwards"] > 20
    assert found["rows"][0]["speech_positions"] > found["rows"][0]["speech_forwards"]


def test_the_published_size_is_the_published_one(tmp_path: Path) -> None:
    """1.6 billion parameters (Zonos v0.1), without a single one in memory."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(zonos_random.config(zonos_random.SIZES["published"])))
    with torch.device("meta"):
        model = ZonosModel(read_config(path))
    assert sum(tensor.numel() for tensor in model.parameters()) == pytest.approx(1.6e9, rel=0.05)


def test_an_unknown_size_is_told() -> None:
    with pytest.raises(PredtuiError, match="no size 'huge'"):
        zonos_random.size_named("huge")


def test_what_it_takes_is_told_before_it_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zonos.main(zonos.ZonosBench(TtsSettings(), "tiny", frames=10, repeats=1, keep=tmp_path))
    assert capsys.readouterr().out.startswith(f"Random weights, tiny: 0.01 GB of disk in {tmp_path}, up to 0.5 GB")
    written = sum(path.stat().st_size for path in tmp_path.rglob("*.safetensors"))
    assert zonos_random.needs(zonos_random.SIZES["tiny"]).disk == pytest.approx(written, rel=0.05)


@pytest.mark.parametrize("short", ["disk", "memory"])
def test_too_large_a_size_is_refused_before_a_weight_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: str
) -> None:
    class Little:
        free = available = 10 * 2**20

    place = "shutil.disk_usage" if short == "disk" else "psutil.virtual_memory"
    monkeypatch.setattr(place, lambda *_: Little)
    with pytest.raises(PredtuiError, match=rf"takes .* GB of {short}.* 0.01 GB are free"):
        zonos.result(zonos.ZonosBench(TtsSettings(), "published", keep=tmp_path / "not" / "there"))
    assert not list(tmp_path.iterdir())


def test_the_published_size_needs_what_its_weights_take() -> None:
    needs = zonos_random.needs(zonos_random.SIZES["published"])
    assert 3e9 < needs.disk < 5e9
    assert 4 * 1.6e9 < needs.memory < 12e9
