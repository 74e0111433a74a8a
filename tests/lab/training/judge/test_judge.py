"""Training a judge: what it learns from is what it is said to be, what is interrupted goes on, what is exported judges
as it did in torch, for any family of models."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from predtui.clock import VirtualClock
from predtui.decoding import heads
from predtui.decoding.assembly import make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.lossy import JUDGE, judge_of
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.load import load
from tests import tiny_folder

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from predtui.lab.training.cllm import replies  # noqa: E402
from predtui.lab.training.cllm.windows import Reply  # noqa: E402
from predtui.lab.training.judge import cases, train  # noqa: E402
from predtui.lab.training.judge.cases import Asked, Cases, asked, collect  # noqa: E402
from predtui.lab.training.judge.train import HARM, JudgeTraining, above, fitted, train_judge  # noqa: E402
from tests.lab.training.heads.test_heads import SMALL, family  # noqa: E402

WIDTH = 12


def made_up(count: int = 400) -> Cases:
    """Right where a hidden direction says so, most of the time."""
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(count, WIDTH)) * 3 + 1
    right = hidden @ rng.normal(size=WIDTH) + rng.normal(size=count) * 2 > 1
    return Cases(torch.from_numpy(hidden).half(), torch.from_numpy(right), torch.tensor([count]), torch.zeros(1))


def test_the_head_in_numpy_is_the_one_in_torch_and_harms_as_seldom_as_it_says() -> None:
    cases = made_up()
    tensors, figures = fitted(cases, 0)
    judge = judge_of(heads.Heads(JUDGE, "it", WIDTH, "", tensors))
    held = slice(round(0.6 * len(cases.right)), None)
    chances = np.array([judge.chance(hidden) for hidden in cases.hidden[held].float().numpy()])
    weight, bias = torch.from_numpy(tensors["weight"]).double(), float(tensors["bias"][0])
    told = torch.sigmoid(cases.hidden[held].double() @ weight + bias).numpy()
    np.testing.assert_allclose(chances, told, atol=1e-4)
    wrong = ~cases.right[held].numpy()
    assert (chances[wrong] >= judge.threshold).mean() == pytest.approx(figures["wrong_accepted"], abs=1e-3)
    assert figures["wrong_accepted"] <= HARM
    assert figures["balanced_accuracy"] > 0.8


@given(st.floats(0, 1))
def test_a_threshold_is_the_lowest_number_of_16_bits_above_a_chance(chance: float) -> None:
    threshold = np.float16(above(chance))
    assert float(np.nextafter(threshold, np.float16(0))) <= chance < float(threshold)


def test_too_few_cases_are_refused() -> None:
    cases = made_up()
    with pytest.raises(PredtuiError, match="too few"):
        fitted(replace(cases, right=torch.ones(len(cases.right)).bool()), 0)


def answers(path: Path, *lines: dict[str, str]) -> Path:
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def test_prompts_without_answers_are_refused(tmp_path: Path) -> None:
    target = load(str(tiny_folder.write(tmp_path / "it")), "torch", threads=1)
    path = answers(tmp_path / "p.jsonl", {"prompt": "a", "answer": "b"}, {"prompt": "a"})
    with pytest.raises(PredtuiError, match=r"1 of 2 prompts .* no answer, .*p\.jsonl, line 2 for one"):
        asked(target, path, 0)
    (one,) = asked(target, answers(path, {"prompt": "a", "answer": "It's the 7"}), 0)
    assert one.right("well, 7.")
    assert not one.right("well, 8.")


def test_a_case_is_the_state_behind_anothers_token_and_what_goes_on_from_it_tells(tmp_path: Path) -> None:
    models = [load(str(tiny_folder.write(tmp_path / name, seed)), "torch", threads=1) for seed, name in enumerate("td")]
    target, draft = models
    target.model.tell_hidden()  # type: ignore[attr-defined]
    heard: list[str] = []

    def right(reply: str) -> bool:
        heard.append(reply)
        return True

    prompt = target.tokenizer.encode("the thing is")
    said = list(generate(target.model, prompt, Greedy(), 6, target.tokenizer.is_end))
    kept = tmp_path / "kept.safetensors", {"of": 1}, True
    found = collect((target, draft), iter([Asked(prompt, right)]), 3, 6, kept, lambda _count: None)
    assert heard[0] == target.tokenizer.decode(said)
    assert len(found.right) == len(heard) - 1 == 4
    states = []
    for place, token in enumerate(said):
        row = draft.model.forward([*prompt, *said[:place]])[-1]
        other = next(other for other in row.top(2) if other != token)
        states.append(target.model.forward([*prompt, *said[:place], other]).hidden[-1])
    apart = np.abs(found.hidden.float().numpy()[:, None] - np.stack(states)).max(axis=2)
    assert apart.min(axis=1).max() < 0.02
    again = collect((target, draft), iter([Asked(prompt, right)]), 3, 6, kept, lambda _count: None)
    assert torch.equal(again.hidden, found.hidden), "what was kept is not collected again"


@pytest.mark.parametrize(("context", "drafts"), [(48, 96), (96, 24)])
def test_a_prompt_without_room_for_what_goes_on_from_it_is_left_out(
    context: int, drafts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tiny_folder.write(tmp_path / "it"))
    target, draft = (load(folder, "torch", threads=1, context=size) for size in (context, drafts))
    target.model.tell_hidden()  # type: ignore[attr-defined]
    asked_of = [Asked([4 + n % 9 for n in range(length)], lambda _reply: True) for length in range(1, 48)]
    longest: list[int] = []
    answered = replies.answered

    def watched(network: Any, prompts: Sequence[Sequence[int]], *rest: Any) -> list[Reply]:
        found = answered(network, prompts, *rest)
        longest.extend(len(reply.prompt) + rest[1] for reply in found)
        return found

    monkeypatch.setattr(replies, "answered", watched)
    kept = tmp_path / "kept.safetensors", {}, False
    found = collect((target, draft), iter(asked_of), 10**6, 8, kept, lambda _count: None)
    assert len(found.right) > 0
    assert max(longest) <= context
    assert int(found.used) == len(asked_of)


@pytest.mark.parametrize("prompts", [True, False])
def test_prompts_that_teach_nothing_end(prompts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random weights answer nothing rightly, and make too many tokens of the pocket corpus."""
    monkeypatch.setattr(cases, "FRUITLESS", 4)
    folder = str(tiny_folder.write(tmp_path / "it"))
    path = answers(tmp_path / "p.jsonl", {"prompt": "a", "answer": 12345}) if prompts else None
    training = JudgeTraining(folder, folder, tmp_path / "out", path, 20, threads=1, reply_tokens=4)
    with pytest.raises(PredtuiError, match="1 prompts gave nothing" if prompts else "too long to learn from"):
        train_judge(replace(training, work=tmp_path / "work"), Console(file=io.StringIO()))
    target = load(folder, "torch", threads=1)
    target.model.tell_hidden()  # type: ignore[attr-defined]
    endless = repeat(Asked(target.tokenizer.encode("the"), lambda _reply: False))
    with pytest.raises(PredtuiError, match="128 prompts gave nothing"):
        collect((target, target), endless, 20, 2, (tmp_path / "kept", {}, True), lambda _count: None)


class EveryOther:
    """Holds the first reply for right, the next for wrong, ...: random weights answer nothing."""

    def __init__(self) -> None:
        self._told = cycle((True, False))

    def __call__(self, _reply: str) -> bool:
        return next(self._told)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_judge_for_any_family_is_exported_and_loaded(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "FEWEST", 1)
    folder, said = str(family(tmp_path, name)), io.StringIO()
    lines = [{"prompt": text, "answer": "e"} for text in ("the thing", "in a the", "hat", "a he", "the", "thin a")]
    monkeypatch.setattr(train, "asked", lambda *told: (Asked(one.prompt, EveryOther()) for one in asked(*told)))
    path = answers(tmp_path / "p.jsonl", *lines)
    training = JudgeTraining(folder, folder, tmp_path / "out", path, 20, threads=1, command="it", reply_tokens=8)
    training = replace(training, work=tmp_path / "work")
    train_judge(training, Console(file=said))
    assert "about" in said.getvalue().splitlines()[0], "what it takes is told first"
    assert "A judge of drafts" in (training.out / "README.md").read_text(encoding="utf-8")
    first = (training.out / heads.WEIGHTS).read_bytes()
    train_judge(training, Console(file=io.StringIO()))
    assert (training.out / heads.WEIGHTS).read_bytes() == first
    target = load(folder, "torch", threads=1)
    parts = Parts(target, Greedy(), load(folder, "torch", threads=1), heads=training.out)
    decoder = make_decoder("judge", replace(parts, instrument=Instrument(VirtualClock())), "model")
    assert len(list(decoder.generate(target.tokenizer.encode("the"), 10, lambda _token: False))) == 10
