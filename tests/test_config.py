"""Settings: precedence, errors that name the nearest key, remembering without loss."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from predtui import config, settings
from predtui.errors import PredtuiError
from predtui.registry import DECODERS, DRAFTERS, RECOGNISERS, SYNTHESISERS, VERIFIERS


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [item.variable for item in settings.options().values()]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREDTUI_CONFIG_DIR", str(tmp_path))
    return tmp_path


def write(home: Path, text: str) -> None:
    (home / "settings.toml").write_text(text, encoding="utf-8")


def test_defaults_without_any_source() -> None:
    assert config.load() == settings.Settings()


def test_the_command_line_beats_the_environment_beats_the_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, "[llm]\nthreads = 1\nseed = 1\ncontext = 1\n")
    monkeypatch.setenv("PREDTUI_LLM_SEED", "2")
    monkeypatch.setenv("PREDTUI_LLM_CONTEXT", "2")
    chosen = config.load({"llm.context": 3}).llm
    assert (chosen.threads, chosen.seed, chosen.context) == (1, 2, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[llm]\nmodle = 'x'\n", "Did you mean llm.model"),
        ("[lmm]\nmodel = 'x'\n", "Did you mean llm.model"),
        ("theme = 'x'\n", "ui.theme"),
        ("[llm]\nthreads = 'many'\n", "llm.threads = 'many' should be a whole number"),
        ("[llm]\nbaseline = 3\n", "should be true or false"),
        ("[llm]\nverifier = 'gredy'\n", f"not one of {', '.join(VERIFIERS)}"),
        ("[llm]\nverifier = 'top0'\n", f"not one of {', '.join(VERIFIERS)}"),
        ("[llm]\ndecoder = 'jacoby'\n", "not one of auto, ar, speculative, duo"),
        ("[asr]\nengine = 'ears'\n", "not one of auto, pocketsphinx, faster-whisper"),
        ("[llm]\ntemperature = -1\n", "llm.temperature = -1 should be 0 or more"),
        ("[llm]\ntemperature = nan\n", "should be 0 or more"),
        ("[tts]\nrate = 5\n", "tts.rate = 5 should be 80 to 450"),
        ("llm = 3\n", r"llm is a section.*\[llm\]"),
        ("[[llm]]\nmodel = 'x'\n", "llm is a section"),
        ("[llm\n", "not valid TOML"),
    ],
)
def test_a_bad_file_says_where_and_what(home: Path, text: str, message: str) -> None:
    write(home, text)
    with pytest.raises(PredtuiError, match=message) as caught:
        config.load()
    assert "settings.toml" in str(caught.value)


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREDTUI_LLM_THREDS", "4")
    with pytest.raises(PredtuiError, match="Did you mean PREDTUI_LLM_THREADS"):
        config.load()


def test_words_for_true_and_false(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREDTUI_LLM_BASELINE", "off")
    assert config.load().llm.baseline is False


def test_remembering_keeps_comments_and_other_keys(home: Path) -> None:
    write(home, "# mine\n[llm]\nthreads = 2  # two\n")
    config.remember("ui.theme", "paper")
    text = (home / "settings.toml").read_text(encoding="utf-8")
    assert "# mine" in text
    assert "# two" in text
    assert config.load().ui.theme == "paper"
    assert config.load().llm.threads == 2


def test_remembering_over_a_broken_file_loses_nothing(home: Path) -> None:
    write(home, "[llm\n")
    with pytest.raises(PredtuiError, match="cannot keep"):
        config.remember("ui.theme", "paper")
    assert (home / "settings.toml").read_text(encoding="utf-8") == "[llm\n"


@pytest.mark.parametrize("key", [key for key, item in settings.options().items() if math.isfinite(item.least)])
def test_a_number_out_of_range_is_refused_and_its_default_is_within(key: str) -> None:
    item = settings.options()[key]
    config.load({key: item.default})
    with pytest.raises(PredtuiError, match=f"{key} = .* should be {item.least:g}"):
        config.load({key: item.kind(item.least - 1)})


def test_the_names_that_settings_allow_are_those_that_are_known() -> None:
    known = {key: set(item.choices) for key, item in settings.options().items()}
    assert known["llm.decoder"] == {"auto", *DECODERS}
    assert known["llm.drafter"] == set(DRAFTERS)
    assert known["llm.verifier"] == set(VERIFIERS)
    assert (known["asr.engine"], known["tts.engine"]) == (set(RECOGNISERS), set(SYNTHESISERS))
    assert config.load({"llm.verifier": "top12"}).llm.verifier == "top12"
    assert VERIFIERS.find("top12").number("top12") == 12
