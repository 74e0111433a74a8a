"""Models of many programs on a machine of 8 GB, of which 3 are free: as large as real ones, and all holes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from predtui.llm import room
from predtui.llm.memory import Memory
from predtui.models.places import hugging_face
from tests.models.homes import STUB, cached, in_ollama, write

MB = 10**6


def fill(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "ram", lambda: Memory("RAM", 8000 * MB, 3000 * MB))
    names = {"Qwen3-0.6B-Q8_0.gguf": 639, "Qwen3-0.6B-Q4_K_M.gguf": 397, "mmproj-F16.gguf": 800}
    folder = cached(hugging_face(), "Qwen/Qwen3-0.6B-GGUF", {name: STUB + name.encode() for name in names})
    for name, size in names.items():
        os.truncate((folder / name).resolve(), size * MB)
    os.truncate(in_ollama(home / ".ollama" / "models", "qwen3", "8b"), 5200 * MB)
    os.truncate(in_ollama(home / ".ollama" / "models", "llama3.2", "1b", STUB + b"2"), 1300 * MB)
    for name, size in (("own/bartowski/gemma-3-1b/gemma-3-1b-Q4_0.gguf", 720), ("own/a/b/huge-Q4_K_M.gguf", 42_500)):
        os.truncate(write(home / name), size * MB)
    os.truncate(write(home / ".lmstudio/models/unsloth/SmolLM3-GGUF/SmolLM3-Q4_K_M.gguf"), 1920 * MB)
