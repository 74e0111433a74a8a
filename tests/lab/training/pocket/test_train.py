"""Laws of the pocket trainer: exact resumption, data that depends on the seed alone, a loss that falls."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from predtui.lab.training.pocket.config import DRAFT, TARGET, Budget, Recipe, Shape
from predtui.lab.training.pocket.data import SAID_WEIGHT, BatchStream, Cursor, encode
from predtui.lab.training.pocket.loop import Progress, Run, train
from predtui.lab.training.pocket.model import PocketModel, grown
from predtui.lab.training.pocket.optim import PocketOptimizer, orthogonalise
from predtui.lab.training.pocket.tokenizer import (
    ASSISTANT,
    END,
    SPECIAL_TOKENS,
    corpus_texts,
    load_tokenizer,
    save_tokenizer,
    train_tokenizer,
)
from tests.lab.training.pocket import toy

RECIPE = Recipe(batch_tokens=256, pool_batches=4, warmup_steps=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer learned from the toy corpus."""
    path = tmp_path_factory.mktemp("pocket")
    save_tokenizer(train_tokenizer(corpus_texts(toy.sample, 300, 0), 330), path, 128)
    return path


def small(folder: Path) -> Shape:
    return Shape(hidden=32, layers=2, heads=2, ffn=64, vocab=load_tokenizer(folder).get_vocab_size(), context=128)


def run(folder: Path, work: Path, steps: int, stop_at: int | None = None, resume: bool = False) -> PocketModel:
    save_tokenizer(load_tokenizer(folder), work, 128)

    def report(progress: Progress) -> None:
        if progress.step == stop_at:
            raise KeyboardInterrupt

    budget = Budget(steps=steps)
    return train(small(folder), RECIPE, budget, work, toy.sample, threads=1, resume=resume, report=report)[0]


def test_a_teacher_is_followed_where_it_says_something_else_than_the_corpus(folder: Path, tmp_path: Path) -> None:
    """What is learned of it is what it would say: the token that it holds for the likeliest after those of a reply."""
    teacher = PocketModel(small(folder), seed=5)
    examples = [encode(load_tokenizer(folder), toy.sample(random.Random(n)), 1.0) for n in range(20)]
    learned = [
        (torch.tensor([e.ids]), torch.tensor([i - 1 for i, w in enumerate(e.weights) if w == 1])) for e in examples
    ]

    def agreement(student: PocketModel) -> float:
        with torch.no_grad():
            same = [student(ids, at).argmax(-1) == teacher(ids, at).argmax(-1) for ids, at in learned]
        return torch.cat(same).float().mean().item()

    def taught(name: str, by: PocketModel | None) -> float:
        save_tokenizer(load_tokenizer(folder), tmp_path / name, 128)
        options = {"teacher": by, "threads": 1}
        return agreement(train(small(folder), RECIPE, Budget(steps=60), tmp_path / name, toy.sample, **options)[0])

    assert taught("alone", None) < 0.3
    assert taught("taught", teacher) > 0.8


def test_the_shapes_keep_their_promises() -> None:
    for shape in (TARGET, DRAFT):
        assert shape.parameters == sum(weight.numel() for weight in PocketModel(shape).parameters())
    assert 4e6 < TARGET.parameters < 10e6
    assert DRAFT.parameters < 1e6


def test_an_interrupted_run_ends_as_an_uninterrupted_one(folder: Path, tmp_path: Path) -> None:
    whole = run(folder, tmp_path / "whole", steps=9)
    with pytest.raises(KeyboardInterrupt):
        run(folder, tmp_path / "parts", steps=9, stop_at=5)
    resumed = run(folder, tmp_path / "parts", steps=9, resume=True)
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name]), name


def test_a_finished_run_is_returned_and_another_seed_refused(folder: Path, tmp_path: Path) -> None:
    first = run(folder, tmp_path, steps=2)
    again = run(folder, tmp_path, steps=2, stop_at=1, resume=True)
    assert torch.equal(first.model.embed_tokens.weight, again.model.embed_tokens.weight)
    with pytest.raises(ValueError, match="another run"):
        train(small(folder), RECIPE, Budget(steps=2), tmp_path, toy.sample, seed=1, resume=True)


def test_the_toy_corpus_is_learned(folder: Path, tmp_path: Path) -> None:
    save_tokenizer(load_tokenizer(folder), tmp_path, 128)
    seen: list[Progress] = []
    budget = Budget(steps=150)
    train(small(folder), RECIPE, budget, tmp_path, toy.sample, threads=1, report=seen.append)
    assert seen[0].loss > 4.0
    assert seen[-1].loss < 0.7
    assert seen[-1].judge_accuracy is not None
    assert seen[-1].rate < 0.02


def test_a_taught_model_still_knows_the_token_that_stands_there(folder: Path, tmp_path: Path) -> None:
    def known(recall_weight: float) -> float:
        work = tmp_path / str(recall_weight)
        save_tokenizer(load_tokenizer(folder), work, 128)
        recipe = replace(RECIPE, recall_weight=recall_weight)
        model, _ = train(small(folder), recipe, Budget(steps=100), work, toy.sample, threads=1)
        with BatchStream(toy.sample, folder, RECIPE, 128, 9, Cursor()) as stream:
            batch, _ = next(iter(stream))
        places = torch.as_tensor(batch.positions)
        with torch.no_grad():
            hidden = model.model(torch.as_tensor(batch.ids)).flatten(0, 1)[places]
            named = model.recalled(hidden).argmax(-1)
        return (named == torch.as_tensor(batch.ids.ravel()[batch.positions])).float().mean().item()

    assert known(0.5) > 0.7 > 0.3 > known(0.0)


def test_batches_do_not_depend_on_workers_and_can_be_taken_up_anywhere(folder: Path) -> None:
    def batches(start: Cursor, count: int, workers: int) -> list[bytes]:
        with BatchStream(toy.sample, folder, RECIPE, 128, 7, start, workers) as stream:
            return [batch.ids.tobytes() for batch, _ in islice(stream, count)]

    with BatchStream(toy.sample, folder, RECIPE, 128, 7, Cursor()) as stream:
        taken = list(islice(stream, 12))
    expected = [batch.ids.tobytes() for batch, _ in taken]
    assert batches(Cursor(), 12, workers=2) == expected
    assert batches(taken[5][1], 6, workers=1) == expected[6:]
    assert taken[-1][1].pool >= 2
    assert all(batch.tokens <= RECIPE.batch_tokens for batch, _ in taken)


def test_layers_on_top_start_as_the_identity_and_alone_are_trained(folder: Path, tmp_path: Path) -> None:
    base = run(folder, tmp_path / "base", steps=3)
    shape = replace(small(folder), layers=3)
    ids, positions = torch.arange(24).view(2, 12), torch.arange(24)
    taller = grown(base, 3)
    assert torch.equal(taller(ids, positions), base(ids, positions))
    save_tokenizer(load_tokenizer(folder), tmp_path / "top", 128)
    trained, _ = train(
        shape, replace(RECIPE, muon_lr=0.0), Budget(steps=4), tmp_path / "top", toy.sample, base=base, threads=1
    )
    for name, tensor in trained.state_dict().items():
        kept = name in base.state_dict() and torch.equal(tensor, base.state_dict()[name])
        assert kept != name.startswith("model.layers.2."), name


def test_the_first_layer_on_top_learns_how_unlikely_each_token_was(folder: Path, tmp_path: Path) -> None:
    base = run(folder, tmp_path / "base", steps=80)
    shape = replace(small(folder), layers=4)

    def loss(surprise_weight: float) -> float:
        work = tmp_path / str(surprise_weight)
        save_tokenizer(load_tokenizer(folder), work, 128)
        recipe = replace(RECIPE, muon_lr=0.0, surprise_weight=surprise_weight)
        model, _ = train(shape, recipe, Budget(steps=60), work, toy.sample, base=base, threads=1)
        optimizer = PocketOptimizer(model, 0.0, 1e-3)
        judging = Run(model, optimizer, recipe, Budget(steps=1), work / "unused", lambda progress: None)
        assert judging.standing == base.shape.layers
        with torch.no_grad(), BatchStream(toy.sample, folder, RECIPE, 128, 9, Cursor()) as stream:
            batches = [batch for batch, _ in islice(stream, 4)]
            return sum(judging.surprised(model.model.states(torch.as_tensor(b.ids)), b).item() for b in batches)

    assert loss(1.0) < 0.7 * loss(0.0)


def test_new_layers_speak_as_loud_as_what_they_are_added_to(folder: Path) -> None:
    def moved(loudness: float) -> dict[str, float]:
        model = PocketModel(small(folder))
        before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
        optimizer = PocketOptimizer(model, 0.0, 1e-3, loudness=loudness)
        for weight in model.parameters():
            weight.grad = torch.ones_like(weight)
        optimizer.step(1.0)
        return {name: (weight - before[name]).abs().mean().item() for name, weight in model.named_parameters()}

    quiet, loud = moved(1.0), moved(50.0)
    for name, change in quiet.items():
        factor = 50.0 if name.endswith(("o_proj.weight", "down_proj.weight")) else 1.0
        assert loud[name] == pytest.approx(factor * change, rel=1e-3), name


def test_a_broken_sampler_says_so(folder: Path) -> None:
    with (
        BatchStream(toy.failing, folder, RECIPE, 128, 0, Cursor()) as stream,
        pytest.raises(RuntimeError, match="broken on purpose"),
    ):
        next(iter(stream))


def test_replies_are_learned_judgements_weigh_more_and_what_is_said_less(folder: Path) -> None:
    tokenizer = load_tokenizer(folder)
    rng = random.Random(3)
    examples = [toy.sample(rng) for _ in range(200)]
    for example in examples:
        row = encode(tokenizer, example, 6.0)
        replies = [m.content for m in example.messages if m.role == "assistant"]
        learned = replies if example.learn_all else replies[-1:]
        lightly = 0.5 if example.kind == "judge" else SAID_WEIGHT
        ids = [token for token, weight in zip(row.ids, row.weights, strict=True) if weight > lightly]
        assert ids == [
            token for reply in learned for token in [*tokenizer.encode(reply).ids, SPECIAL_TOKENS.index(END)]
        ]
        assert max(row.weights) == (6.0 if example.kind == "judge" else 1.0)
        assert SPECIAL_TOKENS.index(ASSISTANT) in row.ids
        light = [token for token, weight in zip(row.ids, row.weights, strict=True) if weight == SAID_WEIGHT]
        said = [*tokenizer.encode(example.messages[-2].content).ids, SPECIAL_TOKENS.index(END)]
        assert light == ([] if example.kind == "judge" else said)
    assert {example.kind for example in examples} == {"reply", "judge"}


def test_targets_are_the_next_tokens(folder: Path) -> None:
    with BatchStream(toy.sample, folder, RECIPE, 128, 1, Cursor()) as stream:
        batch, _ = next(iter(stream))
    assert np.array_equal(batch.ids.reshape(-1)[batch.positions + 1], batch.targets)
    assert (batch.weights[batch.labels] == RECIPE.judge_weight).all()


def test_orthogonalise_evens_out_the_singular_values() -> None:
    generator = torch.Generator().manual_seed(0)
    for rows, columns in ((32, 96), (96, 32), (48, 48)):
        matrices = torch.randn(3, rows, columns, generator=generator) * torch.logspace(-1, 1, columns)
        values = torch.linalg.svdvals(orthogonalise(matrices).float())
        assert values.max() < 1.4
        assert values.mean() > 0.6


def test_the_rate_warms_up_holds_and_ends_at_zero() -> None:
    recipe = Recipe()
    assert recipe.rate(0, 0.0) == pytest.approx(1 / recipe.warmup_steps)
    assert recipe.rate(1000, recipe.hold) == pytest.approx(1.0)
    assert recipe.rate(1000, 1.0) == 0.0
    assert replace(recipe, hold=0.0).rate(1000, 0.5) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="either"):
        Budget()
