"""Settings into a pipeline: which stage is made by what, with which options. Imports no engine: factories are names."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from predtui.clock import RealClock
from predtui.llm.default import language_model
from predtui.llm.llamacpp.compile import RECOMPILE
from predtui.models.published import whisper
from predtui.runtime.baseline import IDLE_S
from predtui.runtime.hosts.base import Emit, Host
from predtui.runtime.hosts.process import process_host
from predtui.runtime.manner import manner_of
from predtui.runtime.needs import connected, needs
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.shares import share
from predtui.runtime.stages import STAGES
from predtui.settings import Settings, of_stage, safest_model, state_folder
from predtui.state.stage import Fallback, StageSpec

SAFEST_MODEL = Fallback(
    safest_model,
    "in the safest setting, which is slower: weights as stored, file read instead of mapped, one thread",
    "Choose another model (--model, or F4); what this one does here tells: predtui doctor --model FILE.",
    RECOMPILE,
)


def stage_specs(settings: Settings) -> list[StageSpec]:
    """One spec a stage, in the order of ``STAGES``."""
    specs = [
        StageSpec("mic", "predtui.audio.mic:create", settings.audio),
        StageSpec("asr", "predtui.asr.stage:create", settings.asr),
        StageSpec("llm", "predtui.predgen.stage:from_settings", of_stage(settings, "llm"), SAFEST_MODEL),
        StageSpec("tts", "predtui.tts.stage:create", settings.tts),
        StageSpec("player", "predtui.audio.player:create", settings.audio),
    ]
    return [replace(spec, threads=share(spec.options)) for spec in specs]


def specified(settings: Settings, only: Collection[str], instead: Collection[StageSpec] = ()) -> list[StageSpec]:
    """The specs of stages ``only``, each with what it needs where stages are confined; those of ``instead`` take the
    place of their namesakes."""
    chosen = {spec.name: spec for spec in (*stage_specs(settings), *instead)}
    needed = needs() if settings.safety.confined else {}
    return [
        replace(spec, needs=connected(needed.get(spec.name), spec.options))
        for spec in chosen.values()
        if spec.name in only
    ]


def make_pipeline(
    settings: Settings, only: Collection[str] = STAGES, instead: Collection[StageSpec] = (), idle_s: float = IDLE_S
) -> Pipeline:
    """The pipeline of these settings, not yet started; ``only`` names the stages it has, those of ``instead`` take the
    place of their namesakes; ``idle_s`` as the pipeline takes it."""
    return Pipeline(
        specified(settings, only, instead),
        log_path=log_file(),
        manner=manner_of(settings),
        idle_s=idle_s,
    )


def loudspeaker(settings: Settings, emit: Emit) -> Host:
    """The stage that plays, alone, not yet started."""
    (spec,) = specified(settings, ("player",))
    return process_host(RealClock(), log_file())(spec, emit)


def log_file() -> Path | None:
    """Where engines' output goes; None where no folder can be written, so that it goes nowhere."""
    folder = state_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "predtui.log"
        path.touch()
        return path
    return None


_STAGE = {"llm": "llm", "asr": "asr", "tts": "tts", "audio": "mic"}
"""Section of the settings → the stage that has it as its options."""
_OTHERWISE = {
    "llm.verifier": "", "llm.folder": "", "llm.pause_ms": "", "llm.baseline": "",
    "audio.output": "player",
}  # fmt: skip


def stage_of(key: str) -> str:
    """The stage that is made anew where the setting ``key`` changes; empty where none has to be."""
    return _OTHERWISE.get(key, _STAGE.get(key.split(".")[0], ""))


def resolved(settings: Settings, embedded: bool = False) -> Settings:
    """The same settings with the names of the models in place of ``auto``. ``embedded``: only what ships."""
    llm, asr = settings.llm, settings.asr
    return replace(
        settings,
        llm=replace(llm, model=language_model(llm.model, llm.engine, embedded, llm.url, llm.folder)),
        asr=replace(asr, model=whisper(asr.model, asr.engine, embedded)),
    )
