"""Checkpoints: what is loaded is what was saved, and another run's is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from predtui.errors import PredtuiError
from predtui.lab.training import steps
from predtui.lab.training.cllm.checkpoint import tuned
from predtui.lab.training.pocket.checkpoint import Counters, load_checkpoint, save_checkpoint
from predtui.lab.training.pocket.config import Shape
from predtui.lab.training.pocket.data import Cursor
from predtui.lab.training.pocket.model import PocketModel
from predtui.lab.training.pocket.optim import PocketOptimizer

SHAPE = Shape(hidden=16, layers=1, heads=2, ffn=32, vocab=64, context=32)
COUNTERS = Counters(seed=3, step=7, seconds=1.5, tokens=99, loss=2.5, judge_accuracy=0.75, cursor=Cursor(4, 2))


def stepped(seed: int) -> tuple[PocketModel, PocketOptimizer]:
    """A model after one step, so that its optimiser remembers something."""
    model = PocketModel(SHAPE, seed)
    optimizer = PocketOptimizer(model, muon_lr=0.01, adam_lr=0.001)
    loss = model(torch.tensor([[1, 2, 3]]), torch.tensor([0, 1])).square().sum()
    torch.autograd.backward(loss)
    optimizer.step(1.0)
    return model, optimizer


def same(one: PocketModel, other: PocketModel) -> bool:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(left, right) for left, right in pairs)


def test_a_run_is_taken_up_where_it_was_left(tmp_path: Path) -> None:
    (model, optimizer), (other, fresh) = stepped(1), stepped(2)
    path = tmp_path / "deep" / "run.safetensors"
    save_checkpoint(path, model, optimizer, COUNTERS)
    assert [file.name for file in path.parent.iterdir()] == ["run.safetensors"]
    assert not same(model, other)
    assert load_checkpoint(path, other, fresh, seed=3) == COUNTERS
    assert same(model, other)
    remembered = [optimizer.state(), fresh.state()]
    assert remembered[0].keys() == remembered[1].keys()
    assert all(torch.equal(tensor, remembered[1][name]) for name, tensor in remembered[0].items())


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    model, optimizer = stepped(1)
    save_checkpoint(tmp_path / "run", model, optimizer, COUNTERS)
    with pytest.raises(ValueError, match="another run"):
        load_checkpoint(tmp_path / "run", model, optimizer, seed=4)


def test_consistency_tuning_keeps_the_weights_that_are_tuned(tmp_path: Path) -> None:
    (model, optimizer), (other, fresh) = stepped(1), stepped(2)
    counters = {"run": "pocket", "step": 7, "consistency": 0.5}
    steps.save(tmp_path / "run", tuned(model), optimizer, counters)
    assert steps.load(tmp_path / "run", tuned(other), fresh, "pocket") == counters
    assert same(model, other)
    with pytest.raises(PredtuiError, match="another run"):
        steps.load(tmp_path / "run", tuned(other), fresh, "smollm2")


@pytest.mark.parametrize("kept", [0, 7, 300, -5])
def test_a_checkpoint_that_is_cut_is_named(tmp_path: Path, kept: int) -> None:
    model, optimizer = stepped(1)
    path = tmp_path / "run"
    steps.save(path, tuned(model), optimizer, {"run": "it", "step": 1})
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(PredtuiError, match=r"run cannot be read: .*--no-resume"):
        steps.load(path, tuned(model), optimizer, "it")


def test_a_checkpoint_of_other_shapes_is_another_runs(tmp_path: Path) -> None:
    model, optimizer = stepped(1)
    steps.save(tmp_path / "run", tuned(model), optimizer, {"run": "it", "step": 1})
    other = PocketModel(replace(SHAPE, vocab=65), 1)
    with pytest.raises(PredtuiError, match="another run"):
        steps.load(tmp_path / "run", tuned(other), PocketOptimizer(other, 0.01, 0.001), "it")
