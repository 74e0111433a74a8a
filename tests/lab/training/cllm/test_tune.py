"""Consistency tuning: the packed batch is the decoder's own work, and tuning ends in files that say the same faster."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from predtui.decoding.autoregressive import generate
from predtui.decoding.jacobi import Jacobi
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.models.shipped import asset
from tests import tiny_folder, tiny_gguf

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")

from predtui.lab.training.cllm import prompts, replies  # noqa: E402
from predtui.lab.training.cllm.__main__ import main  # noqa: E402
from predtui.lab.training.cllm.card import COLUMNS, write_card  # noqa: E402
from predtui.lab.training.cllm.config import Recipe  # noqa: E402
from predtui.lab.training.cllm.loop import batches, grouped, in_turn, losses  # noqa: E402
from predtui.lab.training.cllm.tune import CHECKPOINT, CllmTraining, tune  # noqa: E402
from predtui.lab.training.cllm.windows import IGNORED, Reply, Windows  # noqa: E402
from predtui.lab.training.pocket.config import Budget  # noqa: E402

QUICK = Recipe(block=5, windows=3, batch_tokens=400, pool=2, reply_tokens=12, replies=20, warmup_steps=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_folder.write(tmp_path_factory.mktemp("cllm") / "tiny")


@pytest.fixture(scope="module")
def loaded(folder: Path) -> LoadedModel:
    return load(str(folder), "torch", threads=1)


def own_replies(loaded: LoadedModel, count: int, limit: int = 12) -> list[Reply]:
    rng = random.Random(3)
    asked = [rng.choices(range(200), k=rng.randint(2, 9)) for _ in range(count)]
    return replies.answered(loaded.model.network, asked, loaded.tokenizer.is_end, limit)


def test_replies_side_by_side_are_those_of_plain_decoding(loaded: LoadedModel) -> None:
    for reply in own_replies(loaded, 12):
        plain = generate(loaded.model, reply.prompt, Greedy(), 12, loaded.tokenizer.is_end)
        assert list(reply.tokens) == list(plain)


def test_saved_replies_come_back(loaded: LoadedModel, tmp_path: Path) -> None:
    said = own_replies(loaded, 5)
    path = tmp_path / "replies.safetensors"
    replies.save(path, said, {"seed": 1})
    assert replies.saved(path, {"seed": 1}) == said
    assert replies.saved(path, {"seed": 2}) is None, "they are another run's"
    path.write_bytes(path.read_bytes()[:-9])
    assert replies.saved(path, {"seed": 1}) is None
    assert replies.saved(tmp_path / "none", {"seed": 1}) is None


def test_no_more_prompts_are_drawn_than_are_answered(loaded: LoadedModel) -> None:
    """Of more, the shortest would be answered."""
    asked = [[5] * length for length in (9, 2, 7, 3, 4)]
    said = replies.collect(loaded.model.network, iter(asked), loaded.tokenizer.is_end, 2, 3)
    assert sorted(len(reply.prompt) for reply in said) == [2, 7, 9]


def test_a_network_that_computes_no_numbers_replies_nothing(folder: Path) -> None:
    network = load(str(folder), "torch", threads=1).model.network
    network.get_input_embeddings().weight.data[5] = float("nan")
    with pytest.raises(PredtuiError, match="computes no numbers"):
        replies.answered(network, [[4, 6], [4, 5]], lambda _token: False, 2)


@pytest.mark.parametrize("fill", [None, 7])
def test_a_packed_row_is_what_the_decoder_would_evaluate(loaded: LoadedModel, fill: int | None) -> None:
    """Over several iterations: logits, targets and the state of each block against one forward a block."""
    network = loaded.model.network
    said = own_replies(loaded, 4)
    batch = Windows(said, windows=3, block=5, generator=torch.Generator().manual_seed(1), fill=fill)
    for _ in range(6):
        ids, start, guess = batch.ids, batch.start.clone(), batch.guess.clone()
        seen = torch.where(batch.visible(), 0.0, torch.finfo(torch.float32).min)
        with torch.no_grad():
            packed = network(ids, attention_mask=seen, position_ids=batch.positions, use_cache=False).logits
        slots = packed[:, batch.width :].unflatten(1, (3, 4))
        _, targets = batch.targets()
        for row, reply in enumerate(said):
            for window in range(3):
                begun, guessed = int(start[row, window]), guess[row, window].tolist()
                context = [*reply.prompt, *reply.tokens[:begun]]
                alone = torch.tensor(loaded.model.forward([*context, *guessed], last=4).logits)
                torch.testing.assert_close(slots[row, window], alone, atol=1e-3, rtol=1e-3)
                after = [*reply.tokens[begun + 1 :], *[IGNORED] * 5][:4]
                assert targets.unflatten(1, (3, 4))[row, window].tolist() == after
        batch.advance(packed[:, batch.first : batch.width].argmax(-1), packed[:, batch.width :].argmax(-1))


def test_blocks_begin_where_the_reply_does_and_each_in_a_stretch_of_its_own() -> None:
    said = [Reply((1, 2, 3), tuple(range(length))) for length in (8, 16, 40)]
    for seed in range(20):
        batch = Windows(said, windows=8, block=4, generator=torch.Generator().manual_seed(seed))
        assert (batch.start[:, 0] == 0).all()
        for row, reply in zip(batch.start.tolist(), said, strict=True):
            assert len(set(row)) == 8
            assert max(row) < len(reply.tokens)


@pytest.mark.parametrize("fill", [None, 7])
def test_blocks_move_on_as_the_decoder_does(loaded: LoadedModel, fill: int | None) -> None:
    network = loaded.model.network
    (reply,) = own_replies(loaded, 1, limit=24)
    batch = Windows([reply], windows=1, block=4, generator=torch.Generator().manual_seed(1), fill=fill)
    batch.start[:] = 0
    batch.guess[:] = reply.prompt[-1] if fill is None else fill
    decoder = Jacobi(loaded.model, Greedy(), block=4, fill=fill)
    for _ in decoder.generate(reply.prompt, len(reply.tokens) + 9, loaded.tokenizer.is_end):
        if decoder.statistics.tokens >= len(reply.tokens):
            break
        seen = torch.where(batch.visible(), 0.0, torch.finfo(torch.float32).min)
        if decoder.statistics.tokens > int(batch.start):
            with torch.no_grad():
                logits = network(
                    batch.ids, attention_mask=seen, position_ids=batch.positions, use_cache=False
                ).logits.argmax(-1)
            batch.advance(logits[:, batch.first : batch.width], logits[:, batch.width :])
            assert int(batch.start) == decoder.statistics.tokens


def test_the_loss_of_a_fixed_point_is_small_and_falls_when_learned(folder: Path) -> None:
    network = load(str(folder), "torch", threads=1).model.network.train()
    network.set_attn_implementation("eager")
    model = load(str(folder), "torch", threads=1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    stream = in_turn(batches(own_replies(model, 8), QUICK, "0", None), QUICK)
    seen = []
    for _ in range(40):
        consistency, autoregressive = losses(network, next(stream), half=False, discount=1.0)
        (consistency + autoregressive).backward()
        optimizer.step()
        optimizer.zero_grad()
        seen.append(consistency.item())
    assert sum(seen[-8:]) < 0.7 * sum(seen[:8])


def test_groups_keep_to_their_size_and_lose_nobody() -> None:
    rng = random.Random(0)
    said = [Reply((1,) * rng.randint(1, 40), (2,) * rng.randint(1, 20)) for _ in range(200)]
    groups = grouped(said, 500, 30)
    assert sorted(map(len, (r.prompt for g in groups for r in g))) == sorted(len(r.prompt) for r in said)
    for group in groups:
        assert len(group) == 1 or len(group) * (max(len(r.prompt) + len(r.tokens) for r in group) + 30) <= 500


def test_queries_are_cut_anywhere_and_rounds_end_anywhere(loaded: LoadedModel) -> None:
    conversation = next(iter(prompts.endless([], 5)))[1]
    lengths = {len(prompts.broken_off(loaded, conversation, 0.0, random.Random(n))) for n in range(60)}
    assert len(lengths) > 4
    whole = {len(prompts.broken_off(loaded, conversation, 1.0, random.Random(n))) for n in range(20)}
    assert len(whole) == sum(message.role == "user" for message in conversation)


def test_prompts_of_a_file_and_lines_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text('{"prompt": "hi"}\n\n{"messages": [{"role": "user", "content": "a"}]}\n')
    assert [c[-1].content for c in prompts.read(path)] == ["hi", "a"]
    for wrong in ("no json", '{"messages": []}', '{"else": 1}', '{"messages": [{"role": "cat", "content": "a"}]}', ""):
        path.write_text(f'{{"prompt": "hi"}}\n{wrong}\n' if wrong else "")
        with pytest.raises(PredtuiError, match=r"prompts\.jsonl"):
            prompts.read(path)
    with pytest.raises(PredtuiError, match="gone"):
        prompts.read(tmp_path / "gone")


@pytest.mark.parametrize("text", ["one\u2028two\u2029three\x85four", "\x1c\x1d"])
def test_only_a_newline_ends_a_line_of_prompts(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text("\ufeff" + json.dumps({"prompt": text}, ensure_ascii=False) + '\r\n{"prompt": "b"}\r\n', "utf-8")
    assert [c[-1].content for c in prompts.read(path)] == [text, "b"]


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"prompt": null}',
        '{"prompt": 5}',
        '{"messages": [{"role": "user", "content": [{"text": "a"}]}]}',
    ],
)
def test_what_is_no_text_is_no_prompt(tmp_path: Path, line: str) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text('{"prompt": "a"}\n' + line)
    with pytest.raises(PredtuiError, match=r"prompts\.jsonl, line 2: "):
        prompts.read(path)


def test_a_context_without_room_is_told_before_anything_is_asked(loaded: LoadedModel) -> None:
    with pytest.raises(PredtuiError, match=r"The context of tiny has 1024 tokens: a reply of 1024 leaves no room"):
        next(prompts.that_fit(loaded, None, 0, 1.0, 1024))


@pytest.mark.parametrize("full", [False, True])
def test_tuning_ends_in_a_folder_that_says_its_own_faster_or_not(folder: Path, tmp_path: Path, full: bool) -> None:
    asked = tmp_path / "prompts.jsonl"
    asked.write_text("\n".join(json.dumps({"prompt": f"the thing {n}"}) for n in range(6)))
    training = CllmTraining(
        str(folder), tmp_path / "out", Budget(steps=4), tmp_path / "work", asked, full, 0, 1, recipe=QUICK
    )
    log = io.StringIO()
    tune(training, Console(file=log))
    assert "consistency" in log.getvalue()
    tuned = load(str(tmp_path / "out"), "torch", threads=1)
    assert not list((tmp_path / "out").glob("adapter*"))
    prompt = tuned.tokenizer.encode("the thing")
    plain = list(generate(tuned.model, prompt, Greedy(), 20, tuned.tokenizer.is_end))
    assert list(Jacobi(tuned.model, Greedy()).generate(prompt, 20, tuned.tokenizer.is_end)) == plain
    assert json.loads((tmp_path / "out" / "training.json").read_text())["step"] == 4
    assert "Not measured yet" in (tmp_path / "out" / "README.md").read_text()
    row = dict.fromkeys(COLUMNS, 2.5)
    (tmp_path / "out" / "bench.json").write_text(json.dumps({"command": "b", "machine": "m", "rows": [row]}))
    write_card(tmp_path / "out")
    assert "| 2.5 |" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize("full", [False, True])
def test_a_gguf_file_is_tuned_to_a_folder(tmp_path: Path, full: bool) -> None:
    file, asked = tiny_gguf.write(tmp_path / "tiny.gguf"), tmp_path / "prompts.jsonl"
    asked.write_text('{"prompt": "the thing"}')
    training = CllmTraining(str(file), tmp_path / "out", Budget(steps=1), tmp_path / "work", asked, full, 0, 1)
    tune(replace(training, recipe=QUICK), Console(file=io.StringIO()))
    tuned = load(str(tmp_path / "out"), "torch", threads=1)
    assert tuned.model.vocab_size == load(str(file), "torch", threads=1).model.vocab_size


def test_a_run_goes_on_where_it_was_and_only_if_it_is_its_own(folder: Path, tmp_path: Path) -> None:
    training = CllmTraining(str(folder), tmp_path / "out", Budget(steps=3), tmp_path / "work", threads=1, recipe=QUICK)
    tune(training, Console(file=io.StringIO()))
    more = replace(training, budget=Budget(steps=5), resume=True)
    tune(more, Console(file=io.StringIO()))
    assert json.loads((tmp_path / "out" / "training.json").read_text())["step"] == 5
    assert (tmp_path / "work" / CHECKPOINT).is_file()
    asked = tmp_path / "prompts.jsonl"
    asked.write_text('{"prompt": "the thing"}')
    kept = (tmp_path / "work" / CHECKPOINT).read_bytes()
    for other in (replace(more, seed=9), replace(more, prompts=asked), replace(more, recipe=Recipe(muon_lr=0.1))):
        with pytest.raises(PredtuiError, match="another run"):
            tune(other, Console(file=io.StringIO()))
    assert (tmp_path / "work" / CHECKPOINT).read_bytes() == kept


def test_what_tuning_takes_is_told_first_and_prompts_that_do_not_fit_end_it(folder: Path, tmp_path: Path) -> None:
    asked, said = tmp_path / "prompts.jsonl", io.StringIO()
    asked.write_text(json.dumps({"prompt": "a " * 3000}))
    training = CllmTraining(str(folder), tmp_path / "out", Budget(minutes=1), tmp_path / "work", asked, threads=1)
    with pytest.raises(PredtuiError, match="No prompt leaves room"):
        tune(replace(training, recipe=replace(QUICK, whole=1.0)), Console(file=said))
    assert said.getvalue().startswith("cllm for tiny: about 1 min")
    assert "of memory" in said.getvalue().splitlines()[0]


def test_what_cannot_be_tuned_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--model", str(tmp_path / "gone"), "--out", str(tmp_path / "out")]) == 2
    assert "gone" in capsys.readouterr().err


def test_where_no_prompt_fits_tuning_ends(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, without_end = count(), prompts.endless

    def watched(*given: Any) -> Iterator[Any]:
        for one in without_end(*given):
            assert next(drawn) < 5000, "it goes on for ever"
            yield one

    monkeypatch.setattr(prompts, "endless", watched)
    recipe = replace(QUICK, reply_tokens=1024 - QUICK.block - 1)
    training = CllmTraining(str(folder), tmp_path / "out", Budget(steps=1), tmp_path / "work", threads=1, recipe=recipe)
    with pytest.raises(PredtuiError, match="leaves room"):
        tune(training, Console(file=io.StringIO()))


def test_a_folder_is_no_file_of_prompts(tmp_path: Path) -> None:
    for asked in (prompts.read, prompts.digest):
        with pytest.raises(PredtuiError, match="cannot be read"):
            asked(tmp_path)
    assert prompts.digest(None) == "pocket"


@pytest.mark.skipif(not asset("pocket", "target", "config.json").is_file(), reason="the pocket model is not there")
def test_the_pocket_is_exported_for_llama_cpp_too(tmp_path: Path) -> None:
    training = CllmTraining(
        "pocket", tmp_path / "out", Budget(steps=1), tmp_path / "work", full=True, threads=1, recipe=QUICK
    )
    tune(training, Console(file=io.StringIO()))
    here, there = load(str(tmp_path / "out" / "model.gguf"), threads=1), load(str(tmp_path / "out"), "torch", threads=1)
    assert here.pad == there.pad is not None
    prompt = here.tokenizer.encode("<|user|>what is the capital of france<|end|><|assistant|>", special=True)
    replies_ = [list(generate(m.model, prompt, Greedy(), 24, m.tokenizer.is_end)) for m in (here, there)]
    assert replies_[0] == replies_[1]
