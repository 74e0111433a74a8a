"""Keeps libraries from phoning home. Imported before all else of predtui, and so before any engine, in every process:
libraries read these switches once, when they are imported. Must not import anything of predtui.
"""

from __future__ import annotations

import os

SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
}
"""onnxruntime creates a device id and uploads events unless told not to; the Hugging Face libraries report their use,
and ask their hub about models that are on this machine already. The last is what other libraries have agreed upon."""
_HUB = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
OFFLINE = any(os.environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE") for name in _HUB)
"""Whether whoever started this process wants the hub left alone, whatever is asked for."""


def silence() -> None:
    """Set every switch for this process and those that it starts, whatever it stood at."""
    os.environ.update(SWITCHES)


def allow_download() -> None:
    """Let the Hugging Face hub be asked: the user has said yes. Call it before ``huggingface_hub`` is imported."""
    for name in _HUB:
        os.environ.pop(name, None)
