"""The hush word's trainer: a spectrogram that equals inference's, a loss that falls, runs that go on."""

import shutil
import wave
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

from predtui.asr.whisperflow import ct2_weights, mel  # noqa: E402
from predtui.asr.whisperflow import files as whisper_files  # noqa: E402
from predtui.asr.whisperflow.files import find_hush, read_hush  # noqa: E402
from predtui.errors import PredtuiError  # noqa: E402
from predtui.lab.training import hush, manifest  # noqa: E402
from predtui.lab.training.asr import from_ctranslate2  # noqa: E402
from predtui.lab.training.asr.export import load_whisper  # noqa: E402
from predtui.lab.training.hush_card import placed  # noqa: E402
from predtui.lab.training.hush_train import HushTraining, opening, train_hush  # noqa: E402
from tests.asr import tiny_whisper  # noqa: E402


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_whisper.make(tmp_path_factory.mktemp("tiny")).parent


def utterances(count: int) -> list[manifest.Utterance]:
    rng = np.random.default_rng(0)
    sounds = [0.1 * rng.standard_normal(8000 + 400 * index).astype(np.float32) for index in range(count)]
    return [manifest.Utterance(sound, tiny_whisper.TEXTS[index % 3]) for index, sound in enumerate(sounds)]


@settings(max_examples=30, deadline=None)
@given(count=st.integers(400, 20_000), level=st.floats(1e-5, 1.0), seed=st.integers(0, 99))
def test_the_differentiable_spectrogram_is_inferences(count: int, level: float, seed: int) -> None:
    samples = (level * np.random.default_rng(seed).standard_normal(count)).astype(np.float32)
    ours = hush.log_mel(torch.from_numpy(samples), torch.from_numpy(mel.filters(80))).numpy()
    assert ours.shape == mel.log_mel(samples).shape
    assert np.abs(ours - mel.log_mel(samples)).max() < 2e-3


def run(model: Path, folder: Path, options: hush.HushOptions) -> hush.HushRun:
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    return hush.HushRun(load_whisper(model), tokenizer, opening(tokenizer), options, folder)


@pytest.mark.parametrize(("level", "position"), [("raw", "end"), ("mel", "end"), ("raw", "start"), ("mel", "start")])
def test_the_loss_falls_and_the_model_stays(model: Path, tmp_path: Path, level, position) -> None:
    options = hush.HushOptions(epochs=20, rate=2e-3, level=level, position=position)
    job, news = run(model, tmp_path, options), []
    before = {name: tensor.clone() for name, tensor in job._model.state_dict().items()}
    word = job(utterances(1), utterances(1), False, news.append)
    assert news[-1].loss < news[0].loss
    assert word.shape == ((8000,) if level == "raw" else (80, 50))
    assert all(torch.equal(before[name], tensor) for name, tensor in job._model.state_dict().items())


@pytest.mark.parametrize(("level", "position"), [("raw", "end"), ("mel", "end"), ("raw", "start"), ("mel", "start")])
def test_a_word_stands_where_the_trainer_had_it(level, position) -> None:
    options = hush.HushOptions(level=level, position=position)
    trainer, sound = hush.Hush(options, 80), utterances(1)[0].samples
    with torch.no_grad():
        expected = trainer(torch.from_numpy(sound))[0].numpy()
    assert np.allclose(placed(sound, (options, trainer.word.detach().numpy())), expected, atol=2e-3)


def test_a_resumed_run_ends_as_an_unbroken_one(model: Path, tmp_path: Path) -> None:
    options = hush.HushOptions(epochs=4, rate=1e-2)
    whole = run(model, tmp_path / "a", options)(utterances(6), utterances(4), True, lambda news: None)

    def stop(news: hush.Epoch) -> None:
        if news.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(model, tmp_path / "b", options)(utterances(6), utterances(4), True, stop)
    again = run(model, tmp_path / "b", options)(utterances(6), utterances(4), True, lambda news: None)
    assert torch.equal(whole, again)
    with pytest.raises(ValueError, match="other options"):
        run(model, tmp_path / "b", hush.HushOptions(seed=3))(utterances(6), utterances(4), True, lambda news: None)


def test_a_word_learned_from_the_fast_form_is_found_wherever_that_model_lies(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is to write is what the model writes of padded sounds; it ships beside other models' words."""
    for index, one in enumerate(utterances(6)):
        with wave.open(str(tmp_path / f"{index}.wav"), "wb") as file:
            file.setparams((1, 2, 16_000, 0, "NONE", ""))
            file.writeframes((one.samples * 32767).astype("<i2").tobytes())
    (tmp_path / "list.tsv").write_text("".join(f"{index}.wav\tsaid\n" for index in range(6)))
    shipped = tmp_path / "hush"
    job = HushTraining(
        model / "ctranslate2", str(tmp_path / "list.tsv"), 6, "written", shipped / "mine", work=tmp_path / "work"
    )
    train_hush(job, hush.HushOptions(epochs=1), resume=False)
    monkeypatch.setattr(whisper_files, "asset", lambda *parts: tmp_path.joinpath(*parts))
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(model / "ctranslate2", elsewhere)
    other = tiny_whisper.make(tmp_path / "other", seed=1)
    (shipped / "broken").mkdir()
    (shipped / "broken" / "hush.safetensors").write_bytes(b"nothing")
    found = find_hush(elsewhere)
    assert found is not None
    assert np.array_equal(found, read_hush(shipped / "mine" / "hush.safetensors"))
    assert find_hush(other) is None


def test_either_form_is_the_same_model(model: Path) -> None:
    """But for what 8 bits round."""
    one, other = load_whisper(model), from_ctranslate2.load(model / "ctranslate2")
    sound, ids = torch.from_numpy(mel.log_mel(utterances(1)[0].samples))[None], torch.tensor([[296, 303, 5, 100]])
    with torch.no_grad():
        first, second = one(sound, ids), other(sound, ids)
    assert one.shape == other.shape
    assert (first - second).abs().max() < 0.1 * first.abs().max()


def test_a_fingerprint_is_of_the_model_not_of_its_precision(model: Path, tmp_path: Path) -> None:
    whisper_files.convert(model, tmp_path / "half", "float16")
    whisper_files.convert(model, tmp_path / "full", "float32")
    prints = {
        ct2_weights.fingerprint(folder) for folder in (tmp_path / "half", tmp_path / "full", model / "ctranslate2")
    }
    assert len(prints) == 1
    assert ct2_weights.fingerprint(tiny_whisper.make(tmp_path / "other", seed=1)) not in prints


def test_a_manifest_becomes_a_hush_word_with_a_card(model: Path, tmp_path: Path) -> None:
    for index, one in enumerate(utterances(10)):
        with wave.open(str(tmp_path / f"{index}.wav"), "wb") as file:
            file.setparams((2, 2, 44_100, 0, "NONE", ""))
            pcm = (np.repeat(np.repeat(one.samples, 3), 2) * 32767).astype("<i2")
            file.writeframes(pcm.tobytes())
    lines = [f"{index}.wav\t{one.text}" for index, one in enumerate(utterances(10))]
    (tmp_path / "list.tsv").write_text("\n".join(lines) + "\n\n")
    options = hush.HushOptions(epochs=1)
    job = HushTraining(model, str(tmp_path / "list.tsv"), 10, command="a command", work=tmp_path / "work")
    train_hush(job, options, resume=False, ablations=True)
    word = find_hush(model / "ctranslate2")
    assert word is not None
    assert word.shape == (8000,)
    card = (model / "hush.md").read_text()
    assert "silence 0.5 s" in card
    assert "before the sound" in card
    assert "a command" in card


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("a.wav no tab", "line 1 has no transcript"),
        ("\n\nno.wav\thello", r"list.tsv, line 3: .*no.wav does not exist"),
        ("list.tsv\thello", "not a sou"),
    ],
)
def test_what_is_wrong_with_a_manifest_is_named(tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "list.tsv").write_text(lines)
    with pytest.raises(PredtuiError, match=message):
        list(manifest.read(tmp_path / "list.tsv"))


def test_a_manifest_of_another_editor_is_read(tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(bytes(3200))
    (tmp_path / "list.tsv").write_bytes(b"\xef\xbb\xbfa.wav\thello\r\n\r\n")
    (one,) = manifest.read(tmp_path / "list.tsv")
    assert (len(one.samples), one.text) == (1600, "hello")


def test_files_that_hold_no_hush_word_are_named(tmp_path: Path, model: Path) -> None:
    (tmp_path / "hush.safetensors").write_bytes(b"nothing")
    with pytest.raises(PredtuiError, match="no hush word"):
        find_hush(tmp_path)
    with pytest.raises(PredtuiError, match="no hush word"):
        read_hush(model / "model.safetensors")
    with pytest.raises(PredtuiError, match="no Whisper"):
        train_hush(HushTraining(tmp_path, limit=5, work=tmp_path), hush.HushOptions(), resume=False)
