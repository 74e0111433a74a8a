"""Training a draft: its losses know where it equals the target, a crash costs nothing but time, and what is exported
for any family of models is the same network in every engine, and drafts."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from predtui.decoding.assembly import DecodingOptions, assemble
from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.load import load
from tests import tiny_folder
from tests.lab.training.heads.test_heads import SMALL, family

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from predtui.lab.training.cllm.windows import Reply  # noqa: E402
from predtui.lab.training.draft.config import Recipe, shape_for  # noqa: E402
from predtui.lab.training.draft.loop import Alignment, batch  # noqa: E402
from predtui.lab.training.draft.losses import LOSSES, tvd, tvd_plus_plus  # noqa: E402
from predtui.lab.training.draft.train import DraftTraining, train_draft  # noqa: E402
from predtui.lab.training.draft.vocabulary import pre_tokenizer  # noqa: E402
from predtui.lab.training.pocket.config import Budget, Shape  # noqa: E402
from predtui.lab.training.pocket.model import PocketModel  # noqa: E402
from predtui.lab.training.steps import Counters, News  # noqa: E402

QUICK = Recipe(replies=10, reply_tokens=8, held_out=2, batch=4, warmup_steps=2)
TINY = Shape(hidden=32, layers=1, heads=1, ffn=48, vocab=20, context=64)


def gradient(loss: str, draft: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    leaf = draft.clone().requires_grad_()
    (found,) = torch.autograd.grad(LOSSES[loss](leaf, target), leaf)
    return found


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_a_draft_that_equals_its_target_has_nothing_to_learn(loss: str) -> None:
    logits = torch.randn(7, 12, generator=torch.Generator().manual_seed(0))
    assert gradient(loss, logits, logits).abs().max() < 1e-6


def test_normalised_rewards_scale_the_gradient_of_the_distance() -> None:
    for seed in range(5):
        draft, target = torch.randn(2, 9, 12, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        scaled, plain = gradient("tvd++", draft, target), gradient("tvd", draft, target)
        factor = (scaled * plain).sum() / plain.square().sum()
        assert factor > 1
        torch.testing.assert_close(scaled, factor * plain, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_each_loss_brings_the_draft_nearer(loss: str) -> None:
    generator = torch.Generator().manual_seed(1)
    draft, target = torch.randn(6, 10, generator=generator), 2 * torch.randn(6, 10, generator=generator)
    before = tvd(draft, target)
    for _ in range(200):
        draft = draft - 0.5 * gradient(loss, draft, target)
    assert tvd(draft, target) < 0.7 * before


def test_a_batch_is_replies_and_where_their_tokens_are_foretold() -> None:
    ids, places = batch([Reply((1, 2, 3), (4, 5)), Reply((6,), (7, 8, 9, 10, 11, 12))])
    assert ids.tolist() == [[1, 2, 3, 4, 5, 0, 0], [6, 7, 8, 9, 10, 11, 12]]
    assert ids.flatten()[places + 1].tolist() == [4, 5, 7, 8, 9, 10, 11, 12]


class Target(PocketModel):
    """Looks like a network of transformers."""

    device = torch.device("cpu")

    def forward(self, ids: torch.Tensor, use_cache: bool = False) -> Target:  # type: ignore[override]
        self.logits = self.head(self.model(ids))
        return self


class CrashError(Exception):
    pass


def test_a_crash_resumes_to_the_same_weights_and_the_loss_falls(tmp_path: Path) -> None:
    said = [Reply((number,), (number + 1, number + 2, number + 1)) for number in range(1, 15)]
    target, recipe, losses = Target(TINY, 9), replace(QUICK, batch=8), []

    def run(path: Path, crash: int = -1) -> PocketModel:
        training = Alignment(PocketModel(TINY, 3), target, said, recipe, 5, path)

        def report(news: News) -> None:
            losses.append(news.counters.loss)
            if news.counters.step == crash:
                raise CrashError

        training.run(Budget(steps=12), Counters("it"), True, report)
        return training.network

    whole = run(tmp_path / "whole")
    assert losses[5] < losses[0], "while it learns the next token"
    for crash in (4, 9):
        with pytest.raises(CrashError):
            run(tmp_path / "crashed", crash)
    again = run(tmp_path / "crashed")
    for name, weight in whole.named_parameters():
        assert torch.equal(weight, again.get_parameter(name)), name
    with pytest.raises(PredtuiError, match="another run"):
        Alignment(PocketModel(TINY), target, said, recipe, 5, tmp_path / "whole").run(
            Budget(steps=2), Counters("other"), True, print
        )


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prompts") / "prompts.jsonl"
    path.write_text("\n".join(json.dumps({"prompt": text}) for text in ("the thing", "in a the", "hat")), "utf-8")
    return path


def trained(folder: Path, prompts: Path, out: Path) -> str:
    said = io.StringIO()
    training = DraftTraining(
        *(str(folder), out, Budget(steps=2), 1, 32, prompts, 1, 1, True, "it", out.parent / "work"), recipe=QUICK
    )
    train_draft(training, Console(file=said))
    return said.getvalue()


@pytest.mark.parametrize("name", sorted(SMALL))
def test_two_steps_for_any_family_are_exported_loaded_and_draft(name: str, prompts: Path, tmp_path: Path) -> None:
    folder, out = family(tmp_path, name), tmp_path / "out"
    assert "of training" in trained(folder, prompts, out), "what it takes is told first"
    about = json.loads((out / "training.json").read_text(encoding="utf-8"))
    assert about["steps"] == 2
    assert "A draft for" in (out / "README.md").read_text(encoding="utf-8")
    tokens = [70, 260, 5, 258, 81, 82]
    target = load(str(folder), "torch", threads=1)
    found = []
    for engine in ("torch", "numpy", "llamacpp"):
        draft = load(str(out / "model.gguf" if engine == "llamacpp" else out), engine, threads=1)
        assert draft.tokenizer.encode("the thing is 12") == target.tokenizer.encode("the thing is 12")
        rows = draft.model.forward(tokens, len(tokens))
        found.append([[row.logprob(token) for token in range(draft.model.vocab_size)] for row in rows])
        draft.model.close()
    np.testing.assert_allclose(found[1], found[0], atol=1e-3)
    np.testing.assert_allclose(found[2], found[0], atol=3e-2)
    plain = list(generate(target.model, tokens, Greedy(), 12, lambda _token: False))
    (out / "model.gguf").rename(tmp_path / "draft.gguf")
    for draft_path in (tmp_path / "draft.gguf", out):
        options = DecodingOptions("speculative", "model", str(draft_path))
        made = assemble(options, target, Greedy())
        assert list(made.decoder.generate(tokens, 12, lambda _token: False)) == plain
        assert made.draft
        assert made.draft.engine == ("llama.cpp" if draft_path != out else "torch")
        made.close()


def test_a_tokenizer_that_is_not_bytewise_has_no_gguf_and_still_drafts(prompts: Path, tmp_path: Path) -> None:
    folder, out = tiny_folder.write(tmp_path / "it"), tmp_path / "out"
    told = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    told["model"]["byte_fallback"] = True
    (folder / "tokenizer.json").write_text(json.dumps(told), encoding="utf-8")
    assert "cannot be written as GGUF" in trained(folder, prompts, out)
    assert not (out / "model.gguf").exists()
    first = (out / "model.safetensors").read_bytes()
    trained(folder, prompts, out)
    assert (out / "model.safetensors").read_bytes() == first, "a run that is over is over"


def test_a_batch_that_no_memory_holds_is_refused(prompts: Path, tmp_path: Path) -> None:
    folder, recipe = tiny_folder.write(tmp_path / "it"), replace(QUICK, batch=10**8)
    training = DraftTraining(str(folder), tmp_path / "out", Budget(steps=1), 1, 32 * 10**4, prompts, recipe=recipe)
    with pytest.raises(PredtuiError, match=r"Training needs about .* of memory"):
        train_draft(training, Console(file=io.StringIO()))


def test_replies_that_were_cut_are_collected_again(prompts: Path, tmp_path: Path) -> None:
    folder, out = tiny_folder.write(tmp_path / "it"), tmp_path / "out"
    trained(folder, prompts, out)
    (kept,) = (tmp_path / "work").glob("*/replies-*")
    kept.write_bytes(kept.read_bytes()[:50])
    assert "collecting" in trained(folder, prompts, out)


def test_a_draft_is_as_wide_as_its_targets_size_allows() -> None:
    assert shape_for(7_000_000, 3072, 1024).hidden == 64
    assert shape_for(8_000_000_000, 128_256, 4096).hidden == 1024
    assert shape_for(1000, 300, 64, layers=3, width=96).layers == 3
    with pytest.raises(PredtuiError, match="33 wide"):
        shape_for(1000, 300, 64, width=33)


def test_how_text_is_split_is_told_by_the_pattern() -> None:
    assert pre_tokenizer({"pattern": {"Regex": r"x|\p{N}{1,3}| ?y"}}) == "llama-bpe"
    assert pre_tokenizer({"pattern": {"Regex": r"x|\p{N}| ?y"}}) == "qwen2"
    assert pre_tokenizer({"type": "Digits"}) == "smollm"
    assert pre_tokenizer({"type": "ByteLevel"}) == "gpt-2"
    assert tvd_plus_plus(torch.zeros(1, 2), torch.zeros(1, 2)) == 0
