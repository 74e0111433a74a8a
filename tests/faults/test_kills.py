"""A turn from the command line whose processes are killed in the middle of it is answered as if nothing was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import psutil

from predtui.llm.load import load
from predtui.predgen.prompts import system_prompt
from predtui.state.events import Message

PROMPT = "what is two plus two"
LIMIT_S = 60.0
"""A turn that takes longer hangs."""


def decoded() -> str:
    """The reply of plain greedy decoding, one token after another."""
    loaded = load("pocket", "numpy")
    tokens = loaded.prompt_tokens([Message("system", system_prompt(loaded.parameters)), Message("user", PROMPT)])
    start = len(tokens)
    while not loaded.tokenizer.is_end(token := loaded.model.forward(tokens)[-1].argmax()):
        tokens.append(token)
    return loaded.tokenizer.decode(tokens[start:]).strip()


def events(out: IO[str]) -> Iterator[dict[str, Any]]:
    for line in out:
        yield json.loads(line)


def kill(app: int, stage: str) -> None:
    alive = [child for child in psutil.Process(app).children() if child.status() != psutil.STATUS_ZOMBIE]
    (process,) = (child for child in alive if child.cmdline()[-1] == stage)
    process.kill()


def test_a_turn_whose_model_and_then_voice_are_killed_is_answered_all_the_same(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREDTUI_")}
    places = {"PREDTUI_CONFIG_DIR": str(tmp_path / "config"), "PREDTUI_STATE_DIR": str(tmp_path / "state")}
    line = [sys.executable, "-m", "predtui", "turn", "--text", PROMPT, "--cps", "40", "--json"]
    line += ["--model", "pocket", "--engine", "numpy", "--output", "none"]
    seen: list[dict[str, Any]] = []
    left = {"Candidate": "llm", "ReplyCommitted": "tts"}
    with subprocess.Popen(line, env=kept | places, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as app:
        assert app.stdout
        assert app.stderr
        limit = threading.Timer(LIMIT_S, app.kill)
        limit.start()
        for event in events(app.stdout):
            seen.append(event)
            if stage := left.pop(event.get("type", ""), ""):
                kill(app.pid, stage)
        limit.cancel()
        complaints = app.stderr.read()
    assert (app.returncode, complaints, left) == (0, "", {})
    for stage in ("llm", "tts"):
        states = [event["state"] for event in seen if event.get("stage") == stage and "state" in event]
        assert [state for state in states if state != "starting"] == ["ready", "restarting", "ready"]
    summary = seen[-1]["summary"]
    assert summary["reply"] == decoded()
    assert summary["lossless"]
    assert [event["state"] for event in seen if event.get("type") == "Playback"][-1] == "finished"
