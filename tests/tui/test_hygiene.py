"""The screen loads no engine: shown by importing it in a process of its own."""

from __future__ import annotations

import subprocess
import sys

ENGINES = (
    "torch",
    "transformers",
    "llama_cpp",
    "faster_whisper",
    "ctranslate2",
    "pocketsphinx",
    "sounddevice",
    "numpy",
)


def test_importing_the_screen_loads_no_engine() -> None:
    code = f"import sys, predtui.tui.app; print([name for name in {ENGINES!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
