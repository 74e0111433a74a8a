"""A hub that fails as it can, while the command line, in a process of its own, fetches a model from it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from predtui.models.places import INCOMING
from tests import tiny_gguf
from tests.models.hub import ANSWERS, BODIES, HubServer, serving

FAULTS = int(os.environ.get("PULL_FAULTS", "3"))
"""Random histories of faults. Twenty: PULL_FAULTS=20 pytest tests/faults/test_hub.py"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    weights = tiny_gguf.write(tmp_path_factory.mktemp("tiny") / "tiny.gguf").read_bytes()
    with serving() as server:
        server.repositories["a/m"] = {"m-Q8_0.gguf": weights}
        yield server


def pull(hub: HubServer, home: Path) -> subprocess.CompletedProcess[str]:
    taken = ("PREDTUI_", "HF_", "TRANSFORMERS_", "XDG_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(taken)}
    environment |= {"HOME": str(home), "HF_ENDPOINT": hub.address, "NO_PROXY": "127.0.0.1"}
    environment |= {f"PREDTUI_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE", "MODELS")}
    line = [sys.executable, "-m", "predtui", "models", "pull", "a/m", "--yes"]
    return subprocess.run(line, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("seed", range(FAULTS))
def test_whatever_the_hub_does_there_is_the_model_or_one_line(seed: int, hub: HubServer, tmp_path: Path) -> None:
    chance = random.Random(seed)
    hub.answers = deque(chance.choices(ANSWERS, k=chance.randrange(2)))
    hub.bodies = deque((chance.choice(BODIES), chance.random()) for _ in range(chance.randint(1, 3)))
    promised, models = hub.repositories["a/m"]["m-Q8_0.gguf"], tmp_path / "models"
    model = models / "a" / "m" / "m-Q8_0.gguf"
    told = f"{seed}: {list(hub.answers)}, {list(hub.bodies)}"
    first = pull(hub, tmp_path)
    assert "Traceback" not in first.stdout + first.stderr, told
    if first.returncode:
        assert (first.returncode, first.stderr.count("\n")) == (2, 1), f"{told}: {first.stderr}"
        assert first.stderr.startswith("predtui: "), told
    else:
        assert first.stderr == "", told
    assert model.exists() == (first.returncode == 0), told
    assert not model.exists() or model.read_bytes() == promised, told
    hub.answers.clear()
    hub.bodies.clear()
    last = pull(hub, tmp_path)
    assert (last.returncode, last.stderr) == (0, ""), told
    assert model.read_bytes() == promised, told
    left = [path for path in (models / INCOMING).rglob("*") if path.is_file() and path.name != "lock"]
    assert left == [], told
