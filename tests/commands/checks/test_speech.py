"""The doctor calls each recogniser by its own name, whatever it is made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from predtui.commands.checks.speech import recogniser
from predtui.registry import RECOGNISERS
from predtui.settings import Settings


@pytest.mark.parametrize("name", RECOGNISERS.offered())
def test_what_a_recogniser_lacks_is_found_under_its_name(name: str, tmp_path: Path) -> None:
    asr = replace(Settings().asr, engine=name, model=str(tmp_path / "gone"))
    lacking = [finding.subject for finding in recogniser(Settings(asr=asr)) if finding.state != "found"]
    assert lacking == ([name] if RECOGNISERS[name].check else [])
