"""Settings: precedence, errors that name the nearest key, remembering without loss."""

from __future__ import annotations

import errno
import math
from pathlib import Path

import pytest

from predtui import config, files, settings
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
        ("llm = " + "[" * 2000, "nests too deeply"),
        ("llm = " + "{a=" * 2000, "nests too deeply"),
        ("llm" + ".a" * 20_000 + " = 1", "too many dots"),
        ("# " + "x" * 100_000, "larger than"),
        (f"[llm]\ncontext = 1{'0' * 400}\n", "llm.context = 10+ should be 0 to"),
        ("[llm]\ncontext = -5\n", r"llm.context = -5 should be 0 to 16777216\."),
        ("[llm]\nseed = 99999999999999999\n", r"should be -9007199254740992 to 9007199254740992\."),
        ("[llm]\ntemperature = inf\n", r"temperature = inf should be 0 to 9007199254740992\."),
        (f"[llm]\npause_ms = 1{'0' * 400}\n", "llm.pause_ms = 10+ should be a number"),
        (f"[llm]\nseed = 1{'0' * 5000}\n", "not valid TOML"),
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


@pytest.mark.parametrize("text", ["[llm\n", "x = " + "[" * 2000, "[llm]\nmodle = 'x'\n"])
def test_a_file_that_cannot_be_used_leaves_what_the_other_sources_say(home: Path, text: str) -> None:
    write(home, text)
    chosen, problem = config.load_or_default({"llm.seed": 3})
    assert chosen == config.load({"llm.seed": 3}, file=_empty(home))
    assert problem.startswith(
        f"The settings are not used. Correct this file, or move it away: {home / 'settings.toml'}: "
    )
    assert problem.count("move it away") == 1
    assert "\n" not in problem
    write(home, "[llm]\nseed = 4\n")
    assert config.load_or_default() == (config.load(), "")


def _empty(home: Path) -> Path:
    (home / "empty.toml").touch()
    return home / "empty.toml"


@pytest.mark.parametrize("step", ["fdopen", "replace"])
def test_what_cannot_be_remembered_leaves_nothing_behind(
    home: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    write(home, "[llm]\nseed = 1\n")
    monkeypatch.setattr(files.os, step, full)
    for _ in range(3):
        with pytest.raises(PredtuiError, match=r"cannot keep ui\.theme: No space left on device\. Check"):
            config.remember("ui.theme", "paper")
    assert [path.name for path in home.iterdir()] == ["settings.toml"]
    assert config.load().llm.seed == 1


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
