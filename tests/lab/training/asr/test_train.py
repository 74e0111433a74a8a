"""The pocket Whisper's trainer: the same architecture as the original, batches by number, runs that go on."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from predtui.asr.whisperflow.files import FAST  # noqa: E402
from predtui.lab.training.asr import blank  # noqa: E402
from predtui.lab.training.asr.batches import IGNORED, Batches  # noqa: E402
from predtui.lab.training.asr.card import write_card  # noqa: E402
from predtui.lab.training.asr.config import Crops, Recipe, Shape  # noqa: E402
from predtui.lab.training.asr.corpus import Corpus  # noqa: E402
from predtui.lab.training.asr.evaluate import GROUPS  # noqa: E402
from predtui.lab.training.asr.export import export, grown, load_whisper  # noqa: E402
from predtui.lab.training.asr.loop import Counters, Run, Trainee, teach_head  # noqa: E402
from predtui.lab.training.asr.model import Whisper  # noqa: E402
from predtui.lab.training.asr.tokenizer import SPECIAL, add_timestamps, train_tokenizer  # noqa: E402
from predtui.lab.training.asr.voices import UNHEARD  # noqa: E402
from predtui.lab.training.pocket.config import Budget  # noqa: E402

TEXTS = ["what is the capital of france", "how many days are in a week", "tell me a joke"]
TINY = Shape(d_model=32, encoder_layers=1, decoder_layers=1, heads=2, ffn=64, vocab=330, source_positions=25)
CROPS = Crops(padding=10)


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(TEXTS * 5, window_seconds=0.5, text_tokens=295)


@pytest.fixture
def corpus() -> Corpus:
    rng = np.random.default_rng(0)
    spans, frames = [], []
    for index, text in enumerate(itertools.islice(itertools.cycle(TEXTS), 40)):
        words = tuple((word, 0.1 * place, 0.1 * place + 0.1) for place, word in enumerate(text.split()))
        spans.append((80 * index, 80 * index + 80, words))
        frames.append(rng.standard_normal((80, 80)).astype(np.float16))
    return Corpus(np.concatenate(frames), tuple(spans))


def batches(corpus: Corpus, tokenizer, seed: int = 0) -> Batches:
    return Batches(corpus, tokenizer, TINY, size=4, crops=CROPS, seed=seed)


def test_the_model_is_hugging_faces_whisper(tmp_path: Path, tokenizer) -> None:
    from transformers import WhisperForConditionalGeneration

    assert tokenizer.get_vocab_size() == 295 + len(SPECIAL) + 26 == TINY.vocab
    ours = Whisper(TINY).eval()
    export(ours, tokenizer, tmp_path)
    theirs = WhisperForConditionalGeneration.from_pretrained(tmp_path, dtype=torch.float32).eval()
    again = load_whisper(tmp_path)
    mel, ids = torch.randn(2, 80, TINY.window), torch.randint(0, TINY.vocab, (2, 7))
    with torch.no_grad():
        expected = theirs(input_features=mel, decoder_input_ids=ids).logits
        assert torch.allclose(again(mel, ids), expected, atol=1e-4)
        assert torch.allclose(ours(mel, ids), expected, atol=2e-2)  # half precision on disk
    assert (tmp_path / FAST / "model.bin").exists()


def test_a_blank_model_has_the_published_layout() -> None:
    """Radford et al., 2022, table 1; token ids of the multilingual tokenizer."""
    with torch.device("meta"):
        sizes = {
            size: sum(one.numel() for one in Whisper(blank.shape(size)).state_dict().values()) for size in blank.SIZES
        }
    assert {size: round(count / 1e6) for size, count in sizes.items()} == {
        "tiny": 38,
        "base": 73,
        "small": 242,
        "medium": 764,
    }
    names = ("<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>", "<|0.00|>")
    tokens = blank.tokenizer()
    assert [tokens.token_to_id(name) for name in names] == [50_257, 50_258, 50_259, 50_359, 50_363, 50_364]
    assert tokens.get_vocab_size() == blank.shape("base").vocab


def test_a_batch_is_a_function_of_its_number(corpus: Corpus, tokenizer) -> None:
    one, two = batches(corpus, tokenizer), batches(corpus, tokenizer)
    later = [one.get(number, padded=False) for number in range(20)][-1]
    assert np.array_equal(later.mels, two.get(19, padded=False).mels)
    assert later.mels.shape[2] <= TINY.window
    padded = one.get(3, padded=True)
    assert padded.mels.shape == (4, 80, TINY.window)
    assert padded.ids.shape == padded.labels.shape
    learned = padded.labels != IGNORED
    assert (padded.labels[learned] == tokenizer.token_to_id("<|endoftext|>")).sum() == 4
    assert padded.unit_lengths.sum() == len(padded.units)


def test_several_examples_share_a_window_and_its_end_is_padding(corpus: Corpus, tokenizer) -> None:
    shape = replace(TINY, source_positions=200)
    drawn = [Batches(corpus, tokenizer, shape, 16, CROPS, seed=0).get(number, padded=True) for number in range(3)]
    assert max(batch.lengths.max() for batch in drawn) in range(3 * 80, shape.window - CROPS.padding + 1)
    assert min(batch.lengths.min() for batch in drawn) <= 80
    assert max(batch.ids.shape[1] for batch in drawn) <= TINY.target_positions
    narrow = Batches(corpus, tokenizer, replace(shape, target_positions=60), 16, CROPS, seed=0)
    assert max(narrow.get(number, padded=True).ids.shape[1] for number in range(3)) in range(30, 61)


def test_a_model_grows_into_a_longer_window(tmp_path: Path) -> None:
    tokenizer = train_tokenizer(TEXTS * 5, window_seconds=0.5, text_tokens=295)
    export(Whisper(TINY), tokenizer, tmp_path)
    add_timestamps(tokenizer, 1.0)
    shape = replace(TINY, source_positions=50, target_positions=200, vocab=tokenizer.get_vocab_size())
    assert shape.vocab == TINY.vocab + 25
    assert tokenizer.id_to_token(shape.vocab - 1) == "<|1.00|>"
    old = load_whisper(tmp_path)
    new = grown(old, shape).eval()
    mel, ids = torch.randn(2, 80, TINY.window), torch.randint(0, TINY.vocab, (2, 7))
    with torch.no_grad():
        assert torch.allclose(new(mel, ids)[..., : TINY.vocab], old(mel, ids), atol=1e-4)
        assert torch.isfinite(new(torch.randn(1, 80, shape.window), torch.randint(0, shape.vocab, (1, 200)))).all()
    with pytest.raises(RuntimeError):
        grown(new, TINY)


def test_a_new_head_is_taught_and_its_encoder_left_alone(corpus: Corpus, tokenizer) -> None:
    trainee, drawn = Trainee(TINY, 295, seed=0), batches(corpus, tokenizer)
    before = {name: weight.clone() for name, weight in trainee.whisper.state_dict().items()}
    batch = drawn.get(0, padded=False)
    with torch.no_grad():
        states = trainee.whisper.encode(torch.from_numpy(batch.mels))
    loss = trainee.ctc(states, batch).item()
    teach_head(trainee, drawn)
    assert trainee.ctc(states, batch).item() < loss / 2
    assert all(torch.equal(weight, before[name]) for name, weight in trainee.whisper.state_dict().items())


def test_a_resumed_run_ends_as_an_unbroken_one(tmp_path: Path, corpus: Corpus, tokenizer) -> None:
    recipe = Recipe(batch=4, encoder_share=0.5, warmup_steps=2)

    def run(folder: Path, steps: list[int]) -> dict[str, torch.Tensor]:
        trainee = Trainee(TINY, 295, seed=0)
        for stop in steps:
            fresh = Trainee(TINY, 295, seed=0)
            job = Run(fresh, batches(corpus, tokenizer), recipe, Budget(steps=6), folder, lambda news: None)
            with pytest.raises(KeyboardInterrupt) if stop < 6 else _nothing():
                job._report = _stop_at(stop)
                job(0, resume=True)
            trainee = fresh
        return trainee.state_dict()

    whole, broken = run(tmp_path / "a", [6]), run(tmp_path / "b", [4, 6])
    assert all(torch.equal(whole[name], broken[name]) for name in whole)


def test_a_checkpoint_of_another_seed_is_refused(tmp_path: Path, corpus: Corpus, tokenizer) -> None:
    def job() -> Run:
        trainee = Trainee(TINY, 295, seed=0)
        recipe = Recipe(batch=4, warmup_steps=2)
        return Run(trainee, batches(corpus, tokenizer), recipe, Budget(steps=1), tmp_path, lambda news: None)

    job()(0, resume=True)
    with pytest.raises(ValueError, match="another run"):
        job()(1, resume=True)


def test_a_card_tells_all_runs_that_made_the_model(tmp_path: Path, tokenizer) -> None:
    export(Whisper(TINY), tokenizer, tmp_path)
    rates = dict.fromkeys((*GROUPS, *UNHEARD), (0.25, 0.125))
    facts = {"command": "train the second", "hours": 1.0, "utterances": 10, "threads": 1, "count": 3}
    write_card(tmp_path, TINY, Counters(1, step=7), {**facts, "before": {"command": "train the first"}}, rates)
    text = (tmp_path / "README.md").read_text()
    assert "    train the first\n    train the second\n" in text
    assert "| trained voices | 25.0 % | 12.5 % |" in text
    assert json.loads((tmp_path / "training.json").read_text())["wer"]["held-out voices"] == [0.25, 0.125]


def _nothing():
    import contextlib

    return contextlib.nullcontext()


def _stop_at(step: int):
    def report(news) -> None:
        if news.counters.step == step < 6:
            raise KeyboardInterrupt

    return report
