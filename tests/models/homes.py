"""Models in the layouts of other programs, as small as can be: files that begin as GGUF and hold nothing."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

STUB = b"GGUF" + b"\0" * 60


def alone(monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    """A home folder of the test's own, in which nothing lies."""
    for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME", "PREDTUI_MODELS_DIR"):
        monkeypatch.delenv(name, raising=False)
    home.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("OLLAMA_MODELS", str(home / ".ollama" / "models"))
    monkeypatch.setenv("PREDTUI_MODELS_DIR", str(home / "own"))
    return home


def write(path: Path, content: bytes = STUB) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def cached(root: Path, repository: str, files: dict[str, bytes], commit: str = "c0ffee", main: bool = True) -> Path:
    """A snapshot in the Hugging Face cache ``root``: links to blobs. Its folder."""
    top = root / f"models--{repository.replace('/', '--')}"
    for name, content in files.items():
        blob = write(top / "blobs" / hashlib.sha256(content).hexdigest(), content)
        link = top / "snapshots" / commit / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(blob)
    if main:
        write(top / "refs" / "main", commit.encode())
    return top / "snapshots" / commit


def in_ollama(root: Path, name: str = "qwen3", tag: str = "8b", content: bytes = STUB, **changes: object) -> Path:
    """A model in Ollama's folder ``root``, by its manifest. Its weights."""
    kept = {}
    for what, data in {"weights": content, "config": json.dumps({"file_type": "Q4_K_M"}).encode()}.items():
        digest = hashlib.sha256(data).hexdigest()
        kept[what] = write(root / "blobs" / f"sha256-{digest}", data), f"sha256:{digest}"
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": kept["weights"][1], "size": len(content)}
    other = {"mediaType": "application/vnd.ollama.image.license", "digest": kept["config"][1], "size": 1}
    manifest = {"schemaVersion": 2, "config": {"digest": kept["config"][1]}, "layers": [{**layer, **changes}, other]}
    namespace = "registry.ollama.ai/library" if "/" not in name else ""
    write(root / "manifests" / namespace / name / tag, json.dumps(manifest).encode())
    return kept["weights"][0]
