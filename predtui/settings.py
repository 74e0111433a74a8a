"""Every choice a person can make, as frozen dataclasses, and the folders of a person's files.

One table of keys: ``section.key`` in the TOML file, ``PREDTUI_SECTION_KEY`` in the environment, ``--section-key`` on
the command line. ``predtui.config`` reads them. What an exchangeable idea may be stands in ``predtui.registry`` alone.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from predtui.registry import DECODERS, DRAFTERS, LLM_ENGINES, RECOGNISERS, SYNTHESISERS, VERIFIERS, Registry

AUTO = "auto"
"""A model by this name is the best one available."""


def option(
    default: Any,
    meaning: str,
    choices: tuple[str, ...] = (),
    flag: str = "",
    least: float = -math.inf,
    most: float = math.inf,
    ideas: Registry | None = None,
) -> Any:
    """A dataclass field that knows what it means, what it may be, and its short name on the command line.

    ``choices``: the values it may have; ``ideas``: where others stand, with a line of help each. An N at the end of one
    stands for any number from 1 on.
    """
    values = (*choices, *(ideas.offered() if ideas else ()))
    metadata = {"meaning": meaning, "choices": values, "flag": flag, "least": least, "most": most}
    return field(default=default, metadata={**metadata, "ideas": ideas})


@dataclass(frozen=True, slots=True)
class LlmSettings:
    model: str = option(
        AUTO,
        "the language model: pocket, pocket-cllm, smollm2 (predtui real), the path of a file or folder, or a name: "
        "owner/name[:quant], ollama:name[:tag], lmstudio:publisher/name (predtui models list); "
        "auto: smollm2 where it is installed, else pocket",
        flag="model",
    )
    engine: str = option(
        "llamacpp",
        "what runs it",
        ideas=LLM_ENGINES,
        flag="engine",
    )
    url: str = option(
        "",
        "the server that the remote engine asks: http://HOST:PORT; its key stands in the environment: PREDTUI_API_KEY",
        flag="url",
    )
    folder: str = option("", "a folder of GGUF files that F4 offers, and whose files --model takes by their names")
    threads: int = option(0, "CPU threads of the language model; 0 suits its size", least=0, most=1024)
    weights: str = option(
        "auto",
        "how llama.cpp holds the weights: auto tests whether it may repack them here; safest: as stored, on one thread",
        ("auto", "repacked", "stored", "safest"),
    )
    context: int = option(0, "context length in tokens; 0 takes the model's own, at most 4096", least=0, most=1 << 24)
    gpu_layers: str = option(
        "auto", "layers that the GPU holds: auto, as many as fit; -1, all", ("auto", "-1", "0", "N")
    )
    kv_type: str = option(
        "f16", "type of the cache's numbers: q8_0 takes half the memory, q4_0 a quarter", ("f16", "q8_0", "q4_0")
    )
    flash_attention: str = option("auto", "attention computed piece by piece, in less memory", ("auto", "on", "off"))
    mmap: bool = option(True, "map the weights from the file, so that the system may take their memory back")
    mlock: bool = option(False, "keep the system from taking the memory of the weights back")
    batch: int = option(0, "tokens evaluated at once at most; 0: 256", least=0, most=256)
    tensor_split: str = option("", "share of each GPU, as 3,1; empty: as they have room")
    device: str = option("", "the GPUs to use, by llama.cpp's names with commas, or cpu, for torch too")
    graphs: str = option(
        "auto",
        "torch: repeat forwards as CUDA graphs, over a cache of fixed size; auto: on a GPU, where the network can",
        ("auto", "on", "off"),
    )
    verifier: str = option(
        "greedy",
        "how a candidate is verified against a new prompt",
        flag="verifier",
        ideas=VERIFIERS,
    )
    reply_tokens: int = option(256, "the most tokens of a reply, without thoughts", least=1, most=1 << 16)
    thinking: str = option(
        "off",
        "whether a model that can think before it answers does: brief ends a thought after 96 tokens; none is spoken",
        ("off", "brief", "on"),
        flag="thinking",
    )
    thought_tokens: int = option(1024, "the most tokens of a thought, which is then ended", least=1, most=1 << 16)
    clause: bool = option(False, "speak a reply's first clause before its first sentence is known")
    memory: int = option(4, "how many candidates are kept, for words that flip back and forth", least=1)
    continuations: int = option(
        2, "how many endings of your sentence are guessed and answered ahead, in idle time; 0: none", least=0
    )
    remote_budget: float = option(
        2.0, "tokens a server may generate for nothing for each that is spoken; 0: it is asked at the end", least=0
    )
    pause_ms: float = option(
        60.0,
        "ms of pause after which the unfinished word counts as said, and is answered ahead; 0: never",
        least=0,
    )
    decoder: str = option(
        AUTO,
        "how tokens are generated; auto: drafted from what was said before, if forward passes are slow",
        (AUTO,),
        flag="decoder",
        ideas=DECODERS,
    )
    drafter: str = option(
        "model",
        "what a speculative decoder drafts with",
        flag="drafter",
        ideas=DRAFTERS,
    )
    draft: str = option(
        "pocket-draft",
        "the draft model, a GGUF file or folder; pocket-draft: for another model, the one trained for it",
        flag="draft",
    )
    datastore: str = option(
        "", "folder that the drafters rest and cascade read; empty: where predtui train rest writes it"
    )
    heads: str = option(
        "",
        "folder of trained heads, which medusa, eagle and their like draft with; empty: the model's own",
        flag="heads",
    )
    learn: bool = option(
        True,
        "osd: learn of replies in idle time, and keep that: weights, no text; off: neither learn nor use it",
        flag="learn",
    )
    draft_memory: int = option(
        0, "MB that drafting may hold: draft model, caches, tables; 0: any number", flag="draft-memory", least=0
    )
    temperature: float = option(0.0, "0 decodes greedily; above 0, samples with the seed", flag="temperature", least=0)
    top_k: int = option(0, "sample from so many of the likeliest tokens; 0: from all", least=0)
    top_p: float = option(
        1.0, "sample from the likeliest tokens that have this probability together", least=0.01, most=1
    )
    min_p: float = option(
        0.0, "sample from tokens at least so likely, as a share of the likeliest one's probability", least=0, most=1
    )
    seed: int = option(0, "seed of the sampler", flag="seed")
    system: str = option(
        "", "the system prompt, in the language that replies are to have; empty: a short English one for speech"
    )
    notes: str = option(
        "",
        "a folder of notes to answer from, text and Markdown: what they say is looked up while you speak",
        flag="context",
    )
    baseline: bool = option(True, "measure each turn again without speculation, in idle time")


def of_stage(settings: Settings, section: str) -> Any:
    """A section as the stage that it is for takes it: where nothing of what is said is to be kept, nothing is learnt of
    it."""
    if section == "llm" and settings.sessions.private:
        return dataclasses.replace(settings.llm, learn=False)
    return getattr(settings, section)


def safest_model(settings: LlmSettings) -> LlmSettings:
    """The same model, held and evaluated in the way least likely to crash."""
    return dataclasses.replace(settings, weights="safest", device="cpu", gpu_layers="0", kv_type="f16")


@dataclass(frozen=True, slots=True)
class AsrSettings:
    engine: str = option(
        "auto",
        "the recogniser",
        ideas=RECOGNISERS,
        flag="asr",
    )
    model: str = option(
        AUTO,
        "the Whisper: pocket, tiny.en (predtui real), one of predtui models list (small.en, large-v3-turbo, ...), a "
        "folder, or a name in the local cache; "
        "auto: tiny.en where it is installed, else pocket",
    )
    download: bool = option(False, "download a missing Whisper checkpoint")
    language: str = option(
        "en", "the language you speak, by its code or English name; auto: faster-whisper finds it out in each round"
    )
    hotwords: str = option(
        "", "names and rare words that you may say, for a Whisper to know them; the pocket Whisper has no room for them"
    )
    step: float = option(0.16, "whisperflow: seconds of speech between rounds; 0.01 is best effort", least=0.01)
    beam: int = option(5, "whisperflow: hypotheses the search keeps where no earlier round guides it", least=1)
    threads: int = option(
        0,
        "CPU threads of a Whisper; 0: one, faster-whisper two; predtui calibrate asr finds the best for whisperflow",
        least=0,
        most=1024,
    )
    pipelined: bool = option(False, "whisperflow: encode a round while the one before it is being decoded")
    exchange: int = option(
        0, "whisperflow: tokens the encoder's executor decodes before it hands a round over", least=0
    )


@dataclass(frozen=True, slots=True)
class TtsSettings:
    engine: str = option("espeak", "the synthesiser", ideas=SYNTHESISERS, flag="tts")
    voice: str = option("en-us", "the voice: of eSpeak NG, or another synthesiser's by its own name")
    rate: int = option(175, "speaking rate in words per minute (80 to 450)", least=80, most=450)
    pitch: int = option(50, "pitch of eSpeak NG, 0 to 100", least=0, most=100)
    ahead: int = option(17, "chunks of a sentence synthesised before it is committed", least=0)
    memory: int = option(512, "MB that sentences synthesised ahead may take", least=0)
    model: str = option("", "the network of a neural voice: a folder, a file or a name; empty: the usual one")
    threads: int = option(2, "CPU threads of Kokoro, Piper and Supertonic", least=1)
    codec: str = option("descript/dac_44khz", "Zonos: folder or name of its codec, DAC at 44.1 kHz")
    speaker: str = option("", "Zonos: a voice of predtui voices, or a .safetensors file; empty: the model's own")
    encoder: str = option("Zyphra/Zonos-v0.1-speaker-embedding", "Zonos: folder or name of its speaker encoder")
    language: str = option("en-us", "Zonos, Supertonic: language, as eSpeak NG names it")
    emotion: str = option("", 'Zonos: weights, as "happiness=0.6 neutral=0.4"; empty: calm')
    pitch_std: float = option(
        20.0, "Zonos: variation of the pitch in Hz (20 to 45 is normal speech)", least=0, most=400
    )
    carries: bool = option(True, "Zonos: continue each sentence in the prosody of the one before")
    seconds: float = option(30.0, "Zonos: the longest a sentence may last", least=1, most=300)
    seed: int = option(0, "Zonos: seed of its sampler")
    temperature: float = option(1.0, "Zonos: how freely codes are sampled; 0: the likeliest", least=0, most=10)
    top_p: float = option(1.0, "Zonos: sample of the likeliest codes with this probability together", least=0, most=1)
    top_k: int = option(0, "Zonos: sample of so many of the likeliest codes; 0: of all", least=0)
    min_p: float = option(0.1, "Zonos: sample of codes with this share of the likeliest's probability", least=0, most=1)
    linear: float = option(0.0, "Zonos: linear sampling, the weight of log-probabilities; 0: none", least=0, most=10)
    confidence: float = option(0.0, "Zonos: in linear sampling, the weight of the entropy", least=-10, most=10)
    quadratic: float = option(0.0, "Zonos: in linear sampling, the weight of squares", least=-10, most=10)
    graphs: bool = option(True, "Zonos: run its steps as CUDA graphs on a GPU")
    int8: bool = option(False, "Zonos: weights in 8 bits: less memory, slightly less exact")


@dataclass(frozen=True, slots=True)
class AudioSettings:
    input: str = option("", "microphone: part of its name, or its number; empty: the default; none", flag="input")
    output: str = option("", "loudspeaker: part of its name, or its number; empty: the default; none", flag="output")
    silence_ms: int = option(
        0, "milliseconds of silence that end a hands-free turn; 0: 150 to 1500, by how likely it is over", least=0
    )
    hands_free: bool = option(False, "let silence end a spoken turn, instead of the talk key")
    barge_in: bool = option(
        True, "hands-free: a reply that is talked over ends; its echo is cancelled in what the microphone hears"
    )


@dataclass(frozen=True, slots=True)
class UiSettings:
    theme: str = option(
        AUTO, "name of the theme; auto: midnight, or daylight where the terminal's background is light", flag="theme"
    )
    preset: str = option(
        "all",
        "which panes: all, lab all with NFE and RTF, chat the conversation, demo for an audience",
        ("chat", "all", "lab", "demo"),
    )
    toggled: str = option("", "panes shown or hidden against the preset, by their names; figures: NFE and RTF")
    sizes: str = option("", "shares of heights and widths, as candidate=10 verifier=6 said=50 guessed=70")
    tour: bool = option(True, "at the very first start, a question types itself and shows what is guessed and saved")
    plain: bool = option(False, "talk in lines, without a screen: for screen readers and logs", flag="plain")


@dataclass(frozen=True, slots=True)
class SafetySettings:
    confined: bool = option(
        True, "let each stage reach only what it needs, where Linux can see to that; off, for a driver that needs more"
    )


@dataclass(frozen=True, slots=True)
class SessionsSettings:
    private: bool = option(False, "keep nothing of what is said: no conversation, no prompt", flag="private")


@dataclass(frozen=True, slots=True)
class Settings:
    llm: LlmSettings = LlmSettings()
    asr: AsrSettings = AsrSettings()
    tts: TtsSettings = TtsSettings()
    audio: AudioSettings = AudioSettings()
    ui: UiSettings = UiSettings()
    safety: SafetySettings = SafetySettings()
    sessions: SessionsSettings = SessionsSettings()


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
    ideas: Registry | None

    @property
    def variable(self) -> str:
        return "PREDTUI_" + self.key.replace(".", "_").upper()


def sections() -> dict[str, Any]:
    """The sections with their defaults."""
    return {section.name: section.default for section in dataclasses.fields(Settings)}


def options() -> dict[str, Option]:
    """Every key, ``section.name`` → Option, in the order of the dataclasses."""
    kinds = {"str": str, "int": int, "float": float, "bool": bool}
    table: dict[str, Option] = {}
    for section, content in sections().items():
        for item in dataclasses.fields(content):
            key = f"{section}.{item.name}"
            table[key] = Option(key, kinds[str(item.type)], item.default, **item.metadata)
    return table


def value_of(settings: Settings, key: str) -> Any:
    """Of the setting ``section.name``."""
    section, _, name = key.partition(".")
    return getattr(getattr(settings, section), name)


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The same with other values, by their keys ``section.name``, which are not checked."""
    for key, value in values.items():
        section, _, name = key.partition(".")
        changed = dataclasses.replace(getattr(settings, section), **{name: value})
        settings = dataclasses.replace(settings, **{section: changed})
    return settings


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


def learnt_folder() -> Path:
    """Where what drafts have learnt is kept."""
    return state_folder() / "learnt"


def trained_folder() -> Path:
    """Where heads, drafts and tuned models are kept that were trained for a person's models."""
    return data_folder() / "trained"


def models_folder() -> Path:
    """Where models that were pulled are kept; ``PREDTUI_MODELS_DIR`` moves it."""
    chosen = os.environ.get("PREDTUI_MODELS_DIR")
    return Path(chosen) if chosen else data_folder() / "models"


def data_folder() -> Path:
    """Where conversations are kept; ``PREDTUI_DATA_DIR`` moves it."""
    if chosen := os.environ.get("PREDTUI_DATA_DIR"):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_data_dir("predtui"))


def cache_folder() -> Path:
    """For what can be found out again; ``PREDTUI_CACHE_DIR`` moves it."""
    if chosen := os.environ.get("PREDTUI_CACHE_DIR"):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("predtui"))
