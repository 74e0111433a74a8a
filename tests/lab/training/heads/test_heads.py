"""Training heads: what is learned from is the target's own, a crash costs nothing but time, and what is exported drafts
for any family of models as it did in torch."""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from safetensors import safe_open
from safetensors.numpy import save_file as np_save

from predtui.clock import VirtualClock
from predtui.decoding import heads
from predtui.decoding.assembly import make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.drafters.chimera import Chimera
from predtui.decoding.drafters.clover import Clover
from predtui.decoding.drafters.eagle import Eagle
from predtui.decoding.drafters.falcon import Falcon
from predtui.decoding.drafters.grow import Options
from predtui.decoding.drafters.hydra import Hydra
from predtui.decoding.drafters.medusa import Medusa
from predtui.decoding.head_draft import Guesser
from predtui.decoding.heads import Array
from predtui.decoding.parts import Parts
from predtui.decoding.recall import NOTHING, along
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.load import load
from predtui.system.exits import terminate_as_interrupt
from tests import tiny_folder
from tests.tiny_gguf import FEED_FORWARD, HEADS, HIDDEN, LAYERS

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from safetensors.torch import load_file, save_file  # noqa: E402

from predtui.lab.training.cllm.windows import IGNORED, Reply  # noqa: E402
from predtui.lab.training.heads import estimate, loop, states  # noqa: E402
from predtui.lab.training.heads.config import METHODS, Recipe  # noqa: E402
from predtui.lab.training.heads.loop import Training  # noqa: E402
from predtui.lab.training.heads.networks import NETWORKS  # noqa: E402
from predtui.lab.training.heads.networks.base import HeadNetwork  # noqa: E402
from predtui.lab.training.heads.states import Lessons, States  # noqa: E402
from predtui.lab.training.heads.train import HeadTraining, train_heads  # noqa: E402
from predtui.lab.training.pocket.config import Budget  # noqa: E402
from predtui.lab.training.pocket.optim import PocketOptimizer  # noqa: E402
from predtui.lab.training.steps import Counters, News  # noqa: E402

WIDTH, VOCABULARY, DRAFTED = 8, 30, 20
QUICK = Recipe(vocabulary=24, depth=3, heads=2, reach=4, batch=16, replies=12, reply_tokens=10)
QUICK = replace(QUICK, hydra_heads=2, chimera_heads=2, held_out=3)
SMALL = {"Llama": {}, "Qwen2": {}, "Gemma": {"head_dim": 8}}


def network(method: str, seed: int = 0) -> HeadNetwork:
    """Of random weights, norms and all."""
    torch.manual_seed(seed)
    made = NETWORKS[method](torch.randn(DRAFTED + 1, WIDTH), torch.randn(DRAFTED, WIDTH), QUICK)
    with torch.no_grad():
        for weight in made.parameters():
            weight.copy_(torch.randn(weight.shape) * 0.4 + (weight.ndim == 1))
    return made


def exported(method: str, made: HeadNetwork) -> heads.Heads:
    tensors = {"tokens": torch.arange(3, 3 + DRAFTED), **dict(made.named_parameters())}
    tensors |= {"embedding": made.embedding, "output": made.output}
    return heads.Heads(method, "it", WIDTH, "", {name: one.detach().numpy() for name, one in tensors.items()})


GUESSERS: dict[str, Callable[[heads.Heads], Guesser]] = {
    "medusa": Medusa,
    "hydra": Hydra,
    "eagle": Eagle,
    "clover": Clover,
    "falcon": Falcon,
    "chimera": Chimera,
}


@pytest.mark.parametrize("method", METHODS)
def test_heads_in_numpy_are_those_in_torch(method: str) -> None:
    made = network(method).eval()
    found, contexts = exported(method, made), [[9, 4, 9, 4], [5, 6, 7, 8], [4, 5, 6, 9, 4, 5], [999, 3, 3], [4, 999]]
    contexts.append([*contexts[2], 6, 7])  # goes on
    follow = [9, 6, 6, 3, 999, 8]  # one token that is not in the draft vocabulary
    hidden, pairs = torch.randn(6, WIDTH), [along(c[:-1], [c[-1], f]) for c, f in zip(contexts, follow, strict=True)]
    rows = torch.from_numpy(np.array([found.place([c[-1], token]) for c, token in zip(contexts, follow, strict=True)]))
    recalled = torch.from_numpy(np.array([[found.place(pair) for pair in two] for two in pairs]))
    missing = [max(0, made.window - len(context[:-1])) for context in contexts]
    before = np.array(
        [
            [NOTHING] * none + found.place(context[:-1]).tolist()[none + len(context) - 1 - made.window :]
            for none, context in zip(missing, contexts, strict=True)
        ]
    )
    with torch.no_grad():
        told = made(hidden, rows, recalled, torch.from_numpy(before).long()).numpy()
    guesser, seen = GUESSERS[method](found), list[Array]()

    def choose(logits: Array, depths: Sequence[int]) -> list[Options]:
        seen.extend(logits)
        return [[(follow[row], 1.0)] for _ in depths]

    for row in (0, 1, 2, 5, 3, 4):
        seen.clear()
        look = guesser.after(hidden[row].numpy(), contexts[row], choose)
        for path in ((), (follow[row],)):
            assert look(path)
        for depth in range(2):
            np.testing.assert_allclose(seen[depth], told[row, depth], atol=1e-4)


def damaged(whole: heads.Heads) -> Iterator[tuple[str, heads.Heads]]:
    """Each of its tensors gone, cut, doubled, turned, of another rank, or of numbers that are none."""
    for name, tensor in whole.tensors.items():
        kept = np.asarray(tensor, np.int32 if name == "tokens" else np.float16)
        faults = {"cut": kept[:-1], "empty": kept[:0], "twice": np.concatenate((kept, kept)), "within": kept[None]}
        faults |= {"flat": kept.reshape(-1), "one": kept.reshape(-1)[:1], "turned": np.ascontiguousarray(kept.T)}
        faults |= {"narrow": np.ascontiguousarray(kept[..., :-1]), "wrong": np.full_like(kept, -1)}
        faults |= {"vast": np.full_like(kept, 30_000)}
        if name != "tokens":
            faults |= {"infinite": np.full_like(kept, np.inf)}
        yield f"{name} gone", replace(whole, tensors={n: t for n, t in whole.tensors.items() if n != name})
        for fault, found in faults.items():
            yield f"{name} {fault}", replace(whole, tensors={**whole.tensors, name: found})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", METHODS)
def test_damaged_heads_are_refused_or_change_no_reply(method: str, tmp_path: Path) -> None:
    target = load(str(tiny_folder.write(tmp_path / "it")), "torch", threads=1)
    torch.manual_seed(1)
    made = NETWORKS[method](torch.randn(DRAFTED + 1, HIDDEN), torch.randn(DRAFTED, HIDDEN), QUICK)
    whole = exported(method, made)
    whole = replace(whole, width=HIDDEN, tokenizer=heads.digest(target.tokenizer))
    prompt = target.tokenizer.encode("the thing is")
    plain = list(generate(target.model, prompt, Greedy(), 12, lambda _token: False))
    refused = set()
    for fault, found in (("none", whole), *damaged(whole)):
        heads.write(found, tmp_path / "heads")
        parts = Parts(target, Greedy(), heads=tmp_path / "heads", instrument=Instrument(VirtualClock()))
        try:
            decoder = make_decoder("speculative", parts, method)
        except PredtuiError:
            refused.add(fault)
        else:
            assert list(decoder.generate(prompt, 12, lambda _token: False)) == plain, fault
    assert "none" not in refused
    assert {"output cut", "output turned", "tokens cut", "tokens gone"} <= refused


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, np.bool_])
def test_weights_are_numbers_of_16_bits(kind: Any, tmp_path: Path) -> None:
    """Others may be too large for what is computed with them."""
    target = load(str(tiny_folder.write(tmp_path / "it")), "torch", threads=1)
    kept = {"tokens": np.arange(3, dtype=np.int32), "output": np.ones((3, HIDDEN), kind)}
    facts = {"method": "medusa", "model": "it", "width": HIDDEN, "tokenizer": heads.digest(target.tokenizer)}
    np_save(kept, str(tmp_path / heads.WEIGHTS), metadata={heads.FACTS: json.dumps(facts)})
    with pytest.raises(PredtuiError, match="output is kept as"):
        heads.load(tmp_path, "medusa", target, Medusa)


def some_states(count: int = 12, seed: int = 1) -> States:
    rng = np.random.default_rng(seed)
    lengths = torch.from_numpy(rng.integers(1, 9, count))
    total = int(lengths.sum())
    tokens, asked = (torch.from_numpy(rng.integers(0, VOCABULARY, size)) for size in (total, 2 * count))
    recalled = torch.from_numpy(rng.integers(-1, VOCABULARY, (total, 2)))
    hidden = torch.from_numpy(rng.normal(size=(total, WIDTH))).half()
    return States(hidden, tokens, recalled, lengths.cumsum(0), asked, torch.arange(2, 2 * count + 1, 2), ((1, 2),))


def test_a_lesson_is_a_state_and_what_followed_it_in_its_reply() -> None:
    known = some_states()
    vocabulary = states.vocabulary(known, DRAFTED)
    lessons = Lessons(known, vocabulary, 3, 5)
    batch = lessons.batch(200, torch.Generator().manual_seed(0))
    place = {tuple(state): number for number, state in enumerate(known.hidden.float().tolist())}
    row_of = {token: row for row, token in enumerate(vocabulary.tolist())}
    ends = known.ends.tolist()
    for state, given, copied, before, asked in zip(*(part.tolist() for part in batch), strict=True):
        start = place[tuple(state)]
        end = next(end for end in ends if end > start)
        reply = known.tokens[start:end].tolist()
        assert len(reply) > 1, "something follows"
        expected = [row_of.get(token, DRAFTED) for token in reply]
        assert given == (expected + [DRAFTED] * 3)[:3]
        assert copied[0] == [row_of.get(token, DRAFTED) for token in known.recalled[start].tolist()]
        number = ends.index(end)
        said = [*known.asked[2 * number : 2 * number + 2].tolist(), *known.tokens[:start].tolist()]
        said = said[:2] + said[2 + ([0, *ends][number]) :]
        assert before == ([NOTHING] * 5 + [row_of.get(token, DRAFTED) for token in said])[-5:]
        following = [row if row < DRAFTED else IGNORED for row in expected[1:]]
        assert asked == (following + [IGNORED] * 3)[:3]


def test_states_come_back_for_the_same_facts_alone(tmp_path: Path) -> None:
    path, known = tmp_path / "states.safetensors", some_states()
    assert states.saved(path, {"seed": 1}) is None
    states.save(path, known, {"seed": 1})
    found = states.saved(path, {"seed": 1})
    assert found is not None
    assert torch.equal(found.hidden, known.hidden)
    assert found.prompts == known.prompts
    assert states.saved(path, {"seed": 2}) is None


class CrashError(Exception):
    pass


@pytest.mark.parametrize("method", METHODS)
def test_a_crash_resumes_to_the_same_weights(method: str, tmp_path: Path) -> None:
    known = some_states(30)
    vocabulary, budget = states.vocabulary(known, DRAFTED), Budget(steps=12)
    lessons = Lessons(known, vocabulary, QUICK.depth, network(method).window)

    def run(path: Path, crash: int = -1) -> HeadNetwork:
        training = Training(network(method), lessons, QUICK, 5, path)

        def report(news: News) -> None:
            if news.counters.step == crash:
                raise CrashError

        training.run(budget, Counters("it"), True, report)
        return training.network

    whole = run(tmp_path / "whole")
    for crash in (4, 9):
        with pytest.raises(CrashError):
            run(tmp_path / "crashed", crash)
    again = run(tmp_path / "crashed")
    for name, weight in whole.named_parameters():
        assert torch.equal(weight, again.get_parameter(name)), name
    assert not torch.equal(whole.get_parameter(name), network(method).get_parameter(name))
    with pytest.raises(PredtuiError, match="another run"):
        Training(network(method), lessons, QUICK, 5, tmp_path / "whole").run(budget, Counters("other"), True, print)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_within_a_step_resumes_to_the_same_weights(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal comes when some of the weights have changed."""
    known = some_states(30)
    lessons, budget = Lessons(known, states.vocabulary(known, DRAFTED), QUICK.depth), Budget(steps=6)

    def run(path: Path) -> HeadNetwork:
        training = Training(network("eagle"), lessons, QUICK, 5, path)
        training.run(budget, Counters("it"), True, lambda _news: None)
        return training.network

    whole, change, changes = run(tmp_path / "whole"), PocketOptimizer._adam_step, count()

    def interrupted(self: PocketOptimizer, *given: Any) -> None:
        change(self, *given)
        if next(changes) == 7:
            os.kill(os.getpid(), number)

    with monkeypatch.context() as patched, terminate_as_interrupt():
        patched.setattr(PocketOptimizer, "_adam_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "cut")
    again = run(tmp_path / "cut")
    for name, weight in whole.named_parameters():
        assert torch.equal(weight, again.get_parameter(name)), name


def test_a_loss_that_is_no_number_ends_a_run_and_spoils_no_checkpoint(tmp_path: Path) -> None:
    known = some_states(30)
    lessons = Lessons(known, states.vocabulary(known, DRAFTED), QUICK.depth)
    known.hidden[:] = float("nan")
    training, path = Training(network("eagle"), lessons, QUICK, 5, tmp_path / "it"), tmp_path / "it"
    with pytest.raises(PredtuiError, match="The loss of step 1 is no number"):
        training.run(Budget(steps=2), Counters("it"), True, lambda _news: None)
    with safe_open(str(path), framework="pt") as file:
        assert all(file.get_tensor(name).isfinite().all() for name in file.keys())  # noqa: SIM118


@pytest.mark.parametrize("layer", ["model.layers.1.mlp.up_proj.weight", "model.embed_tokens.weight"])
def test_a_model_that_computes_no_numbers_is_named(layer: str, prompts: Path, tmp_path: Path) -> None:
    folder = tiny_folder.write(tmp_path / "it")
    weights = load_file(folder / "model.safetensors")
    weights[layer][:] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    training = HeadTraining("eagle", str(folder), tmp_path / "out", Budget(steps=1), prompts, recipe=QUICK)
    with pytest.raises(PredtuiError, match="computes no numbers"):
        train_heads(replace(training, work=tmp_path / "work"), Console(file=io.StringIO()))
    assert not training.out.exists()


def test_learning_lowers_the_loss() -> None:
    known = some_states(8)
    lessons = Lessons(known, states.vocabulary(known, VOCABULARY), QUICK.depth)
    made = network("eagle")
    made.output = torch.randn(VOCABULARY, WIDTH)
    made.embedding = torch.randn(VOCABULARY + 1, WIDTH)
    *given, told = lessons.batch(200, torch.Generator().manual_seed(9))
    losses = []
    training = Training(made, lessons, QUICK, 0, Path("/dev/null"))
    for step in range(60):
        training._step(step, 0.0)
        with torch.no_grad():
            losses.append(float(loop.loss_of(made(*given), told, 1.0)))
    assert losses[-1] < 0.7 * losses[0]


def family(folder: Path, name: str) -> Path:
    """A folder of the family's random network, with the tiny tokenizer."""
    written = tiny_folder.write(folder / name)
    if name != "Llama":
        config = json.loads((written / "config.json").read_text(encoding="utf-8"))
        sizes = {"vocab_size": config["vocab_size"], "max_position_embeddings": config["max_position_embeddings"]}
        sizes |= {"hidden_size": HIDDEN, "intermediate_size": FEED_FORWARD, "num_hidden_layers": LAYERS}
        sizes |= {"num_attention_heads": HEADS, "num_key_value_heads": HEADS, "eos_token_id": config["eos_token_id"]}
        made = getattr(transformers, f"{name}Config")(**sizes, **SMALL[name], initializer_range=0.5, bos_token_id=None)
        torch.manual_seed(0)
        getattr(transformers, f"{name}ForCausalLM")(made).save_pretrained(written)
    return written


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prompts") / "prompts.jsonl"
    path.write_text("\n".join(json.dumps({"prompt": text}) for text in ("the thing", "in a the", "hat")), "utf-8")
    return path


@pytest.mark.parametrize("name", sorted(SMALL))
@pytest.mark.parametrize("method", METHODS)
def test_two_steps_for_any_family_are_exported_loaded_and_draft(
    method: str, name: str, prompts: Path, tmp_path: Path
) -> None:
    folder, said = family(tmp_path, name), io.StringIO()
    training = HeadTraining(
        method, str(folder), tmp_path / "out", Budget(steps=2), prompts, 1, 1, True, "it", tmp_path / "work", QUICK
    )
    train_heads(training, Console(file=said))
    assert "of training" in said.getvalue(), "what it takes is told first"
    about = json.loads((training.out / "training.json").read_text(encoding="utf-8"))
    assert about["steps"] == 2
    assert about["vocabulary"] == len(heads._read(training.out / heads.WEIGHTS).tokens)
    assert about["tokens_per_forward"] >= 1
    assert "`" not in (card := (training.out / "README.md").read_text(encoding="utf-8"))
    assert f"{method.capitalize()} heads for" in card
    target = load(str(folder), "torch", threads=1)
    parts = Parts(target, Greedy(), heads=training.out, instrument=Instrument(VirtualClock()))
    decoder = make_decoder("speculative", parts, method)
    prompt = target.tokenizer.encode("the thing is")
    plain = list(generate(target.model, prompt, Greedy(), 20, lambda _token: False))
    assert list(decoder.generate(prompt, 20, lambda _token: False)) == plain
    assert decoder.statistics.proposed > 0
    first = (training.out / heads.WEIGHTS).read_bytes()
    train_heads(training, Console(file=io.StringIO()))
    assert (training.out / heads.WEIGHTS).read_bytes() == first, "a run that is over is over"


def test_what_is_learned_from_is_what_the_model_says_itself(tmp_path: Path) -> None:
    target = load(str(tiny_folder.write(tmp_path / "it")), "torch", threads=1)
    replies = [Reply(tuple(prompt), ()) for prompt in ([5, 6, 7], [9, 8], [40, 41, 42, 43])]
    said = [replace(r, tokens=tuple(generate(target.model, r.prompt, Greedy(), 6, lambda _t: False))) for r in replies]
    known = states.of_replies(target, said, 1)
    output = target.model.network.get_output_embeddings().weight.detach()
    assert (known.hidden.float() @ output.T).argmax(-1).tolist() == known.tokens.tolist()
    assert known.prompts == (replies[-1].prompt,)
    assert known.recalled.tolist() == [list(pair) for reply in said[:-1] for pair in along(reply.prompt, reply.tokens)]


def test_what_is_missing_is_named(tmp_path: Path, prompts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_folder.write(tmp_path / "it")
    training = HeadTraining("eagle", str(folder), tmp_path / "out", Budget(steps=1), prompts, recipe=QUICK)
    monkeypatch.setattr(estimate, "ram", lambda: replace(estimate_ram, free=10))
    with pytest.raises(PredtuiError, match="of memory, and 0 MB are free"):
        train_heads(training, Console(file=io.StringIO()))
    monkeypatch.setattr(transformers.LlamaForCausalLM, "get_output_embeddings", lambda self: None)
    with pytest.raises(PredtuiError, match="lacks an output layer"):
        train_heads(training, Console(file=io.StringIO()))


estimate_ram = estimate.ram()
