"""A quantised model answers on every processor: by its self-test, or, where that is passed over, by the fallback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from predtui.llm.llamacpp.engine import file_of

LIMIT_S = 180


@pytest.mark.skipif(not file_of("pocket-cllm").is_file(), reason="the tuned model is not there")
@pytest.mark.parametrize("weights", ["auto", "repacked", "safest"])
def test_the_tuned_model_answers(weights: str, tmp_path: Path) -> None:
    folders = {f"PREDTUI_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE", "CACHE")}
    silent = {"PREDTUI_AUDIO_OUTPUT": "none", "PREDTUI_AUDIO_INPUT": "none", "PREDTUI_LLM_WEIGHTS": weights}
    line = [sys.executable, "-m", "predtui", "turn", "--model", "pocket-cllm", "--decoder", "jacobi"]
    done = subprocess.run(
        [*line, "--cps", "40", "--text", "what is the capital of france"],
        env=os.environ | folders | silent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Paris" in done.stdout
    assert "Given up" not in done.stdout
    tested = "predtui.selftest" in (tmp_path / "STATE" / "predtui.log").read_text()
    assert tested == (weights == "auto")
