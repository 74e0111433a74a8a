"""Where a checkpoint's files are found, and what is said where they are not."""

import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from safetensors.numpy import save_file

from predtui.asr.stage import create
from predtui.asr.whisperflow.files import find_hush, find_model
from predtui.asr.whisperflow.load import load
from predtui.errors import PredtuiError
from predtui.settings import AsrSettings
from tests.asr import tiny_whisper


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in Hugging Face's form with the CTranslate2 form in it."""
    return tiny_whisper.make(tmp_path_factory.mktemp("tiny")).parent


def of(folder: Path) -> AsrSettings:
    return AsrSettings(engine="whisperflow", model=str(folder))


def test_either_folder_leads_to_the_fast_form(both: Path) -> None:
    assert find_model(of(both)) == find_model(of(both / "ctranslate2")) == both / "ctranslate2"


def test_a_hugging_face_folder_is_converted_once(both: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path / "state"))
    plain = tmp_path / "plain"
    shutil.copytree(both, plain, ignore=shutil.ignore_patterns("ctranslate2"))
    made = find_model(of(plain))
    stamp = (made / "model.bin").stat().st_mtime_ns
    assert made.is_relative_to(tmp_path / "state")
    assert find_model(of(plain)) == made
    assert (made / "model.bin").stat().st_mtime_ns == stamp
    assert (made / "model.bin").read_bytes() == (both / "ctranslate2" / "model.bin").read_bytes()


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="holds no Whisper model"):
        find_model(of(tmp_path))
    with pytest.raises(PredtuiError, match="is not a folder"):
        find_model(of(tmp_path / "none"))


def test_without_a_hush_word_sounds_are_padded(both: Path, tmp_path: Path) -> None:
    model, options = load(of(both))
    assert options.pad_to == model.window == 200
    mine = tmp_path / "mine"
    shutil.copytree(both, mine)
    save_file({"hush": np.full(8000, 0.1, np.float32)}, str(mine / "hush.safetensors"))
    _, options = load(of(mine))
    assert options.pad_to == 0
    assert len(options.tail) == 8000
    assert find_hush(mine) is None or len(find_hush(mine)) == 8000


def test_the_stage_takes_the_engine_by_name(both: Path) -> None:
    stage = create(of(both))
    assert stage._make().rate == 16_000
