"""The exports against the training module: same tokens in, same tokens out, in transformers and in llama.cpp."""

from __future__ import annotations

import io
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from rich.console import Console

from predtui.lab.training.pocket.config import Budget, Recipe, Shape
from predtui.lab.training.pocket.export import load_exported
from predtui.lab.training.pocket.model import greedy
from predtui.lab.training.pocket.tokenizer import (
    ASSISTANT,
    CHAT_TEMPLATE,
    END,
    SPECIAL_TOKENS,
    encode_message,
    load_tokenizer,
)
from predtui.lab.training.pocket.train import Lessons, PocketTraining, train_pair
from predtui.llm.load import load
from predtui.llm.torch.folder import load_network
from predtui.state.events import Message
from tests.lab.training.pocket import toy

LESSONS = Lessons(*[toy.sample] * 3)
STOP = SPECIAL_TOKENS.index(END)
TEXTS = (
    "what is 12 plus 345, and 3.50 minus 0?",
    "  Two  spaces, a tab\tand\na line;  don't you'll I'M",
    "Zürich São Tomé naïve – „quoted“ … 東京 🙂 x² ½ ٣",
    "snake_case CamelCase !!! ??? http://a.b/c?d=1&e=%20",
)


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both models, trained for a few steps on the toy corpus, exported with their cards."""
    out = tmp_path_factory.mktemp("assets")
    shapes = (Shape(64, 2, 4, 96, vocab=340, context=256), Shape(32, 1, 2, 48, vocab=340, context=256))
    recipe = Recipe(batch_tokens=512, pool_batches=4, warmup_steps=4)
    training = PocketTraining(
        target=Budget(steps=60),
        judge=Budget(steps=2),
        draft=Budget(steps=2),
        threads=1,
        work=tmp_path_factory.mktemp("work"),
        command="train toy",
        teaching=replace(recipe, recall_weight=0.2),
        judging=replace(recipe, muon_lr=0.0),
        drafting=recipe,
        tokenizer_examples=300,
        shapes=shapes,
        judge_layers=1,
    )
    log = io.StringIO()
    train_pair(out, training, LESSONS, Console(file=log))
    assert "100 %" in log.getvalue()
    assert "tok/s" in log.getvalue()
    return out


def prompts(folder: Path, count: int) -> list[list[int]]:
    tokenizer, rng = load_tokenizer(folder), random.Random(5)
    mark = SPECIAL_TOKENS.index(ASSISTANT)
    chats = [toy.sample(rng).messages[:-1] for _ in range(count)]
    return [[*(token for message in chat for token in encode_message(tokenizer, message)), mark] for chat in chats]


@pytest.mark.parametrize("name", ["target", "draft"])
def test_transformers_agrees(assets: Path, name: str) -> None:
    pytest.importorskip("transformers")
    folder = assets / name
    ours, theirs = load_exported(folder), load_network(folder, "cpu", torch.float32)
    assert theirs.dtype == torch.float32
    for ids in prompts(folder, 5):
        positions = torch.arange(len(ids))
        with torch.no_grad():
            logits = theirs(torch.tensor([ids])).logits[0]
            assert torch.allclose(ours(torch.tensor([ids]), positions), logits, atol=1e-4)
        reply = theirs.generate(torch.tensor([ids]), max_new_tokens=24, do_sample=False)[0].tolist()[len(ids) :]
        assert greedy(ours, ids, STOP, 24) == [token for token in reply if token != STOP]


def test_the_hugging_face_tokenizer_agrees(assets: Path) -> None:
    transformers = pytest.importorskip("transformers")
    folder = assets / "target"
    theirs, ours = transformers.AutoTokenizer.from_pretrained(folder), load_tokenizer(folder)
    for text in TEXTS:
        assert theirs(text).input_ids == ours.encode(text).ids
        assert theirs.decode(ours.encode(text).ids) == text
    chat = [Message("system", "dropped"), Message("user", "what is 1 plus 2"), Message("assistant", "3.")]
    plain = [{"role": message.role, "content": message.content} for message in chat]
    rendered = theirs.apply_chat_template([*plain, plain[1]], add_generation_prompt=True, tokenize=False)
    assert (
        rendered
        == f"<|user|>{chat[1].content}<|end|><|assistant|>3.<|end|><|user|>{chat[1].content}<|end|><|assistant|>"
    )
    expected = [token for message in (*chat, chat[1]) for token in encode_message(ours, message)]
    assert theirs(rendered).input_ids == [*expected, SPECIAL_TOKENS.index(ASSISTANT)]
    assert theirs.eos_token == END
    assert json.loads((folder / "tokenizer_config.json").read_text())["chat_template"] == CHAT_TEMPLATE


@pytest.mark.parametrize("name", ["target", "draft"])
def test_llama_cpp_agrees(assets: Path, name: str) -> None:
    llama_cpp = pytest.importorskip("llama_cpp")
    folder = assets / name
    ours, tokenizer = load_exported(folder), load_tokenizer(folder)
    engine = llama_cpp.Llama(str(folder / "model.gguf"), n_ctx=256, n_threads=1, verbose=False)
    assert engine.token_eos() == STOP
    assert engine.metadata["tokenizer.chat_template"] == CHAT_TEMPLATE
    for text in TEXTS:
        ids = engine.tokenize(text.encode(), add_bos=False, special=False)
        assert ids == tokenizer.encode(text).ids, text
        assert engine.detokenize(ids).decode() == text
    marked = f"<|user|>{TEXTS[0]}<|end|><|assistant|>"
    assert engine.tokenize(marked.encode(), add_bos=False, special=True) == tokenizer.encode(marked).ids
    for ids in prompts(folder, 8):
        engine.reset()
        reply = []
        for token in engine.generate(ids, temp=0.0, repeat_penalty=1.0):
            if token == STOP or len(reply) == 24:
                break
            reply.append(token)
        assert reply == greedy(ours, ids, STOP, 24)


def test_predtui_prompts_it_as_it_was_trained(assets: Path) -> None:
    chat = [Message("system", "Be brief."), Message("user", "what colour is snow")]
    loaded = load(str(assets / "target" / "model.gguf"), threads=1)
    tokenizer = load_tokenizer(assets / "target")
    expected = [token for message in chat for token in encode_message(tokenizer, message)]
    assert loaded.prompt_tokens(chat) == [*expected, SPECIAL_TOKENS.index(ASSISTANT)]
    assert loaded.tokenizer.is_end(STOP)


def test_a_fresh_run_leaves_nothing_to_resume_of_an_earlier_one(tmp_path: Path) -> None:
    stale = tmp_path / "work" / "draft" / "checkpoint.safetensors"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"of another vocabulary")
    training = PocketTraining(Budget(steps=1), Budget(steps=1), Budget(steps=1), work=tmp_path / "work")
    with pytest.raises(ZeroDivisionError):
        train_pair(tmp_path / "out", training, Lessons(*[toy.failing] * 3), Console(file=io.StringIO()))
    assert not stale.exists()


def test_a_finished_pair_is_trained_on(assets: Path, tmp_path: Path) -> None:
    shapes = (Shape(64, 2, 4, 96, vocab=340, context=256), Shape(32, 1, 2, 48, vocab=340, context=256))
    gentle = Recipe(batch_tokens=512, pool_batches=4, warmup_steps=10**6)
    once = Budget(steps=1)
    training = PocketTraining(
        once, once, once, threads=1, work=tmp_path / "work", start=assets, teaching=gentle, judging=gentle
    )
    training = replace(training, shapes=shapes, judge_layers=1)
    train_pair(tmp_path / "out", training, replace(LESSONS, known=3), Console(file=io.StringIO()))
    for name in ("target", "draft"):
        assert (tmp_path / "out" / name / "tokenizer.json").read_bytes() == (
            assets / name / "tokenizer.json"
        ).read_bytes()
        before = load_exported(assets / name).state_dict()
        for weight, tensor in load_exported(tmp_path / "out" / name).state_dict().items():
            judging = name == "target" and ".layers.1." in weight
            assert judging or torch.allclose(tensor, before[weight], atol=1e-2), weight
    other = replace(training, shapes=(replace(shapes[0], hidden=32), shapes[1]), work=tmp_path / "other")
    with pytest.raises(ValueError, match="cannot be trained on"):
        train_pair(tmp_path / "out", other, LESSONS, Console(file=io.StringIO()))


def test_labels_are_single_tokens_at_the_start_of_a_reply(assets: Path) -> None:
    tokenizer = load_tokenizer(assets / "target")
    for label in ("yes", "no"):
        assert len(tokenizer.encode(f"{ASSISTANT}{label}{END}").ids) == 3
    assert [len(tokenizer.encode(str(number)).ids) for number in (7, 42, 2024)] == [1, 2, 4]


def test_the_cards_tell_what_was_run(assets: Path) -> None:
    for name, steps in (("target", 60), ("draft", 2)):
        card = (assets / name / "README.md").read_text()
        assert "`train toy`" in card
        assert f"{steps} steps" in card
        assert "Not measured yet" in card
