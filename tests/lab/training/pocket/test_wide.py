"""The wide target says what the narrow one says, and can learn what that cannot."""

from __future__ import annotations

import torch

from predtui.lab.training.pocket.config import Shape
from predtui.lab.training.pocket.model import PocketModel
from predtui.lab.training.pocket.wide import widened


def narrow() -> PocketModel:
    model = PocketModel(Shape(hidden=32, layers=2, heads=2, ffn=48, vocab=50, context=64))
    generator = torch.Generator().manual_seed(1)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3, generator=generator)
    return model


def test_a_widened_model_has_the_logits_of_the_narrow_one() -> None:
    base, ids = narrow(), torch.arange(20).view(2, 10)
    wide = widened(base, seed=3)
    with torch.no_grad():
        before, after = (model(ids, torch.arange(20)) for model in (base, wide))
    assert wide.shape.parameters > 3 * base.shape.parameters
    torch.testing.assert_close(after, before, rtol=1e-4, atol=1e-4)


def test_the_two_halves_of_a_neuron_learn_different_things() -> None:
    wide, ids = widened(narrow(), seed=3), torch.arange(20).view(2, 10)
    torch.autograd.backward(wide(ids, torch.arange(20)).logsumexp(-1).sum())
    gradient = wide.model.layers[0].mlp.gate_proj.weight.grad
    assert gradient is not None
    assert not torch.allclose(gradient[:48], gradient[48:96], rtol=0.01)
