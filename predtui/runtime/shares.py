"""How many CPU threads each stage's process gets, by the stage's options. Must not know how that is enforced."""

from __future__ import annotations

from typing import Any

from predtui.settings import AsrSettings, AudioSettings, LlmSettings, TtsSettings


def share(options: Any) -> int:
    """Threads that the numeric libraries of a stage with ``options`` may use; 0 where its engine says so itself, once
    it knows its model, and for what is no stage of the app's."""
    match options:
        case AudioSettings():
            return 1
        case AsrSettings(threads=threads):
            return threads or 1
        case LlmSettings(threads=threads):
            return threads
        case TtsSettings(engine="espeak" | "none"):
            return 1
        case TtsSettings(engine=engine, threads=threads):
            return 0 if engine == "zonos" else threads
    return 0
