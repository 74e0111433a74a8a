"""Training soft tokens: through the target, as the decoder evaluates them, and a crash costs nothing but time."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from predtui.clock import VirtualClock
from predtui.decoding import heads
from predtui.decoding.assembly import make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from tests import tiny_folder

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from predtui.lab.training.cllm.windows import IGNORED  # noqa: E402
from predtui.lab.training.heads.config import Recipe  # noqa: E402
from predtui.lab.training.heads.loop import Training  # noqa: E402
from predtui.lab.training.heads.soft import CHAIN, METHODS, PLACES, SoftLessons, SoftNetwork, train_soft  # noqa: E402
from predtui.lab.training.heads.states import States  # noqa: E402
from predtui.lab.training.heads.train import HeadTraining, tables_of  # noqa: E402
from predtui.lab.training.pocket.config import Budget  # noqa: E402
from predtui.lab.training.steps import Counters, News  # noqa: E402
from tests.lab.training.heads.test_heads import SMALL, family, prompts  # noqa: E402, F401

QUICK = Recipe(batch=2, depth=CHAIN, replies=8, reply_tokens=8, held_out=2)


def some_states(size: int, count: int = 6) -> States:
    rng = np.random.default_rng(1)
    asked, said = (torch.from_numpy(rng.integers(low, 9, count)) for low in (1, 2))
    tokens, questions = (torch.from_numpy(rng.integers(0, size, int(part.sum()))) for part in (said, asked))
    nothing = torch.empty(0)
    return States(nothing, tokens, nothing, said.cumsum(0), questions, asked.cumsum(0), ((1, 2),))


@pytest.fixture
def target(tmp_path: Path) -> LoadedModel:
    return load(str(tiny_folder.write(tmp_path / "it")), "torch", threads=1)


def network(method: str, target: LoadedModel, noise: float = 0.3) -> SoftNetwork:
    made = SoftNetwork(target.model.network, method, tables_of(target)[1], METHODS.index(method))  # type: ignore[attr-defined]
    torch.manual_seed(0)
    with torch.no_grad():
        made.soft += noise * torch.randn(made.soft.shape)
    return made


@pytest.mark.parametrize("method", METHODS)
def test_what_is_trained_is_what_the_decoder_evaluates(method: str, target: LoadedModel) -> None:
    made, size = network(method, target), target.model.vocab_size
    tokens, places, *rest, _ = SoftLessons(some_states(size), CHAIN).batch(3, torch.Generator().manual_seed(0))
    with torch.no_grad():
        told = made(tokens, places, *rest).view(3, PLACES, CHAIN, size).numpy()
    target.model.soften(made.soft.detach().numpy(), made.layer)  # type: ignore[attr-defined]
    chain = [size + number for number in range(CHAIN)]
    for row in range(3):
        for place in range(0, PLACES, 4):
            context = tokens[row, : places[row, place] + 1].tolist()
            rows = target.model.forward_tree(context, chain, [-1, 0, 1]).logits  # type: ignore[attr-defined]
            np.testing.assert_allclose(told[row, place], rows[1:], atol=1e-2)


def test_a_lesson_is_what_came_behind_the_token_after_a_place() -> None:
    known = some_states(50)
    tokens, places, _, _, told = SoftLessons(known, CHAIN).batch(20, torch.Generator().manual_seed(0))
    begins = [0, *known.ends.tolist()[:-1]]
    asked = [0, *known.asked_ends.tolist()[:-1]]
    contexts = [
        known.asked[a:b].tolist() + known.tokens[c:d].tolist()
        for a, b, c, d in zip(asked, known.asked_ends, begins, known.ends, strict=True)
    ]
    for row, at, ahead in zip(tokens.tolist(), places.tolist(), told.view(20, PLACES, CHAIN).tolist(), strict=True):
        context = next(one for one in contexts if [*one, *[0] * len(row)][: len(row)] == row)
        for place, expected in zip(at, ahead, strict=True):
            behind = context[place + 2 : place + 2 + CHAIN]
            assert expected == [*behind, *[IGNORED] * CHAIN][:CHAIN]
            assert behind


class CrashError(Exception):
    pass


@pytest.mark.parametrize("method", METHODS)
def test_a_crash_resumes_to_the_same_weights(method: str, target: LoadedModel, tmp_path: Path) -> None:
    lessons = SoftLessons(some_states(target.model.vocab_size), CHAIN)

    def run(path: Path, crash: int = -1) -> SoftNetwork:
        made = network(method, target)

        def report(news: News) -> None:
            if news.counters.step == crash:
                raise CrashError

        Training(made, lessons, QUICK, 5, path).run(Budget(steps=4), Counters("it"), True, report)
        return made

    whole = run(tmp_path / "whole")
    with pytest.raises(CrashError):
        run(tmp_path / "crashed", 2)
    assert torch.equal(whole.soft, run(tmp_path / "crashed").soft)
    assert not torch.equal(whole.soft, network(method, target).soft)
    assert [name for name, _ in whole.named_parameters()] == ["soft"], "the target's weights stay"


@pytest.mark.parametrize("name", sorted(SMALL))
@pytest.mark.parametrize("method", METHODS)
def test_two_steps_for_any_family_are_exported_loaded_and_draft(
    method: str,
    name: str,
    prompts: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    folder, said = family(tmp_path, name), io.StringIO()
    training = HeadTraining(
        method, str(folder), tmp_path / "out", Budget(steps=2), prompts, 1, 1, True, "it", tmp_path / "work", QUICK
    )
    train_soft(training, 1, Console(file=said))
    assert "of training" in said.getvalue(), "what it takes is told first"
    assert json.loads((training.out / "training.json").read_text(encoding="utf-8"))["steps"] == 2
    target = load(str(folder), "torch", threads=1)
    parts = Parts(target, Greedy(), heads=training.out, instrument=Instrument(VirtualClock()))
    decoder = make_decoder("speculative", parts, method)
    prompt = target.tokenizer.encode("the thing is")
    plain = list(generate(target.model, prompt, Greedy(), 20, lambda _token: False))
    assert list(decoder.generate(prompt, 20, lambda _token: False)) == plain
    assert decoder.statistics.proposed > 0
    first = (training.out / heads.WEIGHTS).read_bytes()
    train_soft(training, 1, Console(file=io.StringIO()))
    assert (training.out / heads.WEIGHTS).read_bytes() == first, "a run that is over is over"


def test_what_cannot_be_trained_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, quiet = tiny_folder.write(tmp_path / "it"), Console(file=io.StringIO())
    training = HeadTraining("hidden-transfer", str(folder), tmp_path / "out", Budget(steps=1), recipe=QUICK)
    with pytest.raises(PredtuiError, match="has 2 layers, and none behind 2"):
        train_soft(training, 2, quiet)
    monkeypatch.setattr("predtui.llm.torch.model.layers_of", lambda _network: 0)
    with pytest.raises(PredtuiError, match="takes no soft tokens"):
        train_soft(training, 1, quiet)
