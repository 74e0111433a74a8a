"""The diffs of CONTRIBUTING.md are one new file and at most one line each, and do what is said of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SECTION = re.compile(r"^### An? (?P<kind>\w+)$.*?^```diff\n(?P<diff>.*?)^```$", re.DOTALL | re.MULTILINE)
DIFFS = {found["kind"]: found["diff"] for found in SECTION.finditer((ROOT / "CONTRIBUTING.md").read_text())}
USES = {
    "theme": """
from pathlib import Path
from predtui.tui.themes import read_theme
assert read_theme(Path("themes/slate.toml")).dark
""",
    "verifier": """
from predtui.decoding.sampler import Greedy
from predtui.llm.load import load
from predtui.predgen.verifiers import make_verifier
assert list(make_verifier("near", load("1", "scripted"), Greedy()).verify([9, 8], [(4, 5, 6)]))
""",
    "drafter": """
from predtui.registry import DRAFTERS
assert DRAFTERS.factory("bigram")(None).propose([1, 2, 3, 1, 2], 4).tokens == (3, 1, 2, 3)
""",
    "decoder": """
from predtui.decoding.autoregressive import generate
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.llm.load import load
from predtui.registry import DECODERS
rest = [9, 8], 20, lambda token: False
decoder = DECODERS.factory("copying")(Parts(load("1", "scripted"), Greedy()))
plain = generate(load("1", "scripted").model, rest[0], Greedy(), *rest[1:])
assert list(decoder.generate(*rest)) == list(plain)
""",
    "engine": """
from predtui.llm.load import load
assert load("any", "echo").model.forward([4, 5])[-1].argmax() == 4
""",
    "pane": """
from predtui.state.turn import Turn
from predtui.tui.panes import panes_in, topics
assert topics()["pulse"]
assert panes_in("below")[-1](Turn()).TOPIC == "pulse"
""",
}
"""What a person would do first with each, in Python."""


def test_there_is_one_for_each_kind() -> None:
    assert DIFFS.keys() == USES.keys()


@pytest.mark.parametrize("kind", DIFFS)
def test_it_is_one_new_file_and_at_most_one_line(kind: str) -> None:
    old = re.findall(r"^--- (\S+)$", DIFFS[kind], re.MULTILINE)
    assert old.count("/dev/null") == 1
    assert len(old) <= 2
    for part in re.split(r"^diff --git ", DIFFS[kind], flags=re.MULTILINE)[1:]:
        lines = part[part.index("@@") :].splitlines()[1:]
        assert not [line for line in lines if line.startswith("-")]
        assert "/dev/null" in part or sum(line.startswith("+") for line in lines) == 1


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the diffs")
@pytest.mark.parametrize("kind", DIFFS)
def test_it_can_be_applied_and_used(kind: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "predtui", tmp_path / "predtui", ignore=shutil.ignore_patterns("__pycache__", "lab"))
    (tmp_path / "themes").mkdir()
    git = ["git", "-c", "core.autocrlf=false", "apply", "-C1", "-"]
    environment = {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent), "PATH": "/usr/bin:/bin:/usr/local/bin"}
    subprocess.run(git, input=DIFFS[kind], cwd=tmp_path, env=environment, text=True, check=True)
    done = subprocess.run([sys.executable, "-c", USES[kind]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
