"""The doctor calls each recogniser by its own name, whatever it is made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from predtui.commands.checks.speech import pronunciations, recogniser
from predtui.registry import RECOGNISERS
from predtui.settings import Settings


@pytest.mark.parametrize("name", RECOGNISERS.offered())
def test_what_a_recogniser_lacks_is_found_under_its_name(name: str, tmp_path: Path) -> None:
    asr = replace(Settings().asr, engine=name, model=str(tmp_path / "gone"))
    lacking = [finding.subject for finding in recogniser(Settings(asr=asr)) if finding.state != "found"]
    assert lacking == ([name] if RECOGNISERS[name].check else [])


def test_the_users_pronunciations_are_found_and_what_is_wrong_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREDTUI_CONFIG_DIR", str(tmp_path))
    path = tmp_path / "pronunciations.toml"
    (finding,) = pronunciations(Settings())
    assert (finding.state, str(path) in finding.detail) == ("found", True)
    path.write_text('nginx = "engine x"\n')
    (finding,) = pronunciations(Settings())
    assert finding.detail == f"{path}, 1 word"
    path.write_text("nginx =")
    (finding,) = pronunciations(Settings())
    assert (finding.state, str(path) in finding.detail) == ("broken", True)
