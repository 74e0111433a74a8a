"""Training Kangaroo's adapter: on what the first layers make of whole contexts, and as the drafter computes it."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from predtui.clock import VirtualClock
from predtui.decoding import heads
from predtui.decoding.assembly import make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.drafters.kangaroo import Adapter
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.load import load
from tests import tiny_folder

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from predtui.lab.training.cllm.windows import IGNORED, Reply  # noqa: E402
from predtui.lab.training.heads import kangaroo  # noqa: E402
from predtui.lab.training.heads.config import Recipe  # noqa: E402
from predtui.lab.training.heads.kangaroo import Contexts, KangarooNetwork, WholeLessons, train_kangaroo  # noqa: E402
from predtui.lab.training.heads.loop import Training  # noqa: E402
from predtui.lab.training.heads.networks.base import normed  # noqa: E402
from predtui.lab.training.heads.train import HeadTraining  # noqa: E402
from predtui.lab.training.pocket.config import Budget  # noqa: E402
from predtui.lab.training.steps import Counters, News  # noqa: E402
from tests.lab.training.heads.test_heads import SMALL, family, prompts  # noqa: E402, F401

WIDTH, VOCABULARY = 8, 20
QUICK = Recipe(vocabulary=24, batch=4, replies=12, reply_tokens=10, held_out=3, discount=1.0)


def network(width: int = WIDTH) -> KangarooNetwork:
    """Of random weights, norms and all."""
    torch.manual_seed(0)
    made = KangarooNetwork(torch.randn(VOCABULARY, width))
    with torch.no_grad():
        for weight in made.parameters():
            weight.copy_(torch.randn(weight.shape) * 0.1 + (weight.ndim == 1))
    return made


def some_contexts(count: int = 9, seed: int = 1) -> Contexts:
    rng = np.random.default_rng(seed)
    asked, said = (torch.from_numpy(rng.integers(1, 9, count)) for _ in range(2))
    ends = (asked + said).cumsum(0)
    tokens = torch.from_numpy(rng.integers(0, 2 * VOCABULARY, int(ends[-1])))
    hidden = torch.from_numpy(rng.normal(size=(len(tokens), WIDTH))).half()
    return Contexts(hidden, tokens, ends - said, ends, ((1, 2),))


@pytest.mark.parametrize("width", [8, 130], ids=["one head", "two heads"])
def test_the_adapter_in_numpy_is_the_one_in_torch(width: int) -> None:
    made = network(width)
    loaded = load("1", "scripted")
    adapter = Adapter(kangaroo.exported(loaded, made, torch.arange(VOCABULARY), 2))
    hidden = torch.randn(2, 15, width)
    rows = torch.arange(15).expand(2, 15)
    with torch.no_grad():
        told = made(hidden, rows, torch.empty(0), torch.empty(0)).numpy()
    assert adapter.exit == 2
    for context, expected in zip(hidden.numpy(), told, strict=True):
        adapter.cut(0)
        for place in range(15):
            np.testing.assert_allclose(adapter.read(context[place : place + 1]), expected[place], atol=1e-4)


def test_an_adapter_begins_as_the_output_layer_behind_the_part() -> None:
    fresh, hidden = KangarooNetwork(torch.randn(VOCABULARY, WIDTH)), torch.randn(1, 4, WIDTH)
    told = fresh(hidden, torch.tensor([[1, 3]]), torch.empty(0), torch.empty(0))
    torch.testing.assert_close(told[0], normed(hidden[0, [1, 3]]) @ fresh.output.T)


def test_a_lesson_is_a_context_and_what_came_at_each_place_of_its_reply() -> None:
    contexts = some_contexts()
    vocabulary = torch.arange(5, 5 + VOCABULARY)
    hidden, places, _, _, told = WholeLessons(contexts, vocabulary).batch(40, torch.Generator().manual_seed(0))
    begins = [0, *contexts.ends.tolist()[:-1]]
    for states, at, asked in zip(hidden, places.tolist(), told.tolist(), strict=True):
        number = next(n for n, b in enumerate(begins) if torch.equal(states[0], contexts.hidden[b].float()))
        begin, start, end = begins[number], int(contexts.starts[number]), int(contexts.ends[number])
        assert torch.equal(states[: end - begin], contexts.hidden[begin:end].float())
        said = contexts.tokens[start:end].tolist()
        rows = [token - 5 if 5 <= token < 5 + VOCABULARY else IGNORED for token in said]
        assert asked == (rows + [IGNORED] * 9)[: len(asked)]
        assert at[: len(said)] == [start - begin - 1 + place for place in range(len(said))]


class CrashError(Exception):
    pass


def test_a_crash_resumes_to_the_same_weights(tmp_path: Path) -> None:
    lessons, budget = WholeLessons(some_contexts(), torch.arange(VOCABULARY)), Budget(steps=6)

    def run(path: Path, crash: int = -1) -> KangarooNetwork:
        made = network()

        def report(news: News) -> None:
            if news.counters.step == crash:
                raise CrashError

        Training(made, lessons, QUICK, 5, path).run(budget, Counters("it"), True, report)
        return made

    whole = run(tmp_path / "whole")
    for crash in (2, 5):
        with pytest.raises(CrashError):
            run(tmp_path / "crashed", crash)
    again = run(tmp_path / "crashed")
    for name, weight in whole.named_parameters():
        assert torch.equal(weight, again.get_parameter(name)), name
    assert not torch.equal(whole.qkv.layers[0].weight, network().qkv.layers[0].weight)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_two_steps_for_any_family_are_exported_loaded_and_draft(name: str, prompts: Path, tmp_path: Path) -> None:  # noqa: F811
    folder, said = family(tmp_path, name), io.StringIO()
    training = HeadTraining(
        "kangaroo", str(folder), tmp_path / "out", Budget(steps=2), prompts, 1, 1, True, "it", tmp_path / "work", QUICK
    )
    train_kangaroo(training, 1, Console(file=said))
    assert "of training" in said.getvalue(), "what it takes is told first"
    about = json.loads((training.out / "training.json").read_text(encoding="utf-8"))
    assert about["steps"] == 2
    assert "Kangaroo heads for" in (training.out / "README.md").read_text(encoding="utf-8")
    target = load(str(folder), "torch", threads=1)
    parts = Parts(target, Greedy(), heads=training.out, instrument=Instrument(VirtualClock()))
    decoder = make_decoder("speculative", parts, "kangaroo")
    prompt = target.tokenizer.encode("the thing is")
    plain = list(generate(target.model, prompt, Greedy(), 20, lambda _token: False))
    assert list(decoder.generate(prompt, 20, lambda _token: False)) == plain
    assert decoder.statistics.proposed > 0
    first = (training.out / heads.WEIGHTS).read_bytes()
    train_kangaroo(training, 1, Console(file=io.StringIO()))
    assert (training.out / heads.WEIGHTS).read_bytes() == first, "a run that is over is over"


def test_states_are_those_of_the_first_layers(tmp_path: Path) -> None:
    target = load(str(tiny_folder.write(tmp_path / "it")), "torch", threads=1)
    replies = [Reply((5, 6, 7), (9, 10)), Reply((9, 8), (4,)), Reply((40, 41), (3, 2))]
    known = kangaroo.of_replies(target, 1, replies, 1)
    part = target.model.part([0])  # type: ignore[attr-defined]
    part.tell_hidden()
    assert known.tokens.tolist() == [5, 6, 7, 9, 10, 9, 8, 4]
    assert (known.starts.tolist(), known.ends.tolist()) == ([3, 7], [5, 8])
    assert known.replied.tolist() == [9, 10, 4]
    torch.testing.assert_close(
        known.hidden[5:].float(), torch.from_numpy(part.forward([9, 8, 4], 3).hidden), atol=1e-2, rtol=1e-2
    )
    assert known.prompts == ((40, 41),)


def test_an_exit_that_is_none_is_refused(tmp_path: Path) -> None:
    folder = tiny_folder.write(tmp_path / "it")
    training = HeadTraining("kangaroo", str(folder), tmp_path / "out", Budget(steps=1), recipe=replace(QUICK))
    with pytest.raises(PredtuiError, match="has 2 layers: no adapter can stand behind 2"):
        train_kangaroo(training, 2, Console(file=io.StringIO()))
