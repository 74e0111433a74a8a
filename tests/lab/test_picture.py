"""The picture of the README shows the app while a question is being typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from predtui.lab import picture


async def test_half_a_question_is_there_and_a_guess_at_its_answer() -> None:
    drawn = await picture.taken(picture.embedded())
    seen = re.sub(r"<[^>]+>", "", drawn).replace("&#160;", " ")
    assert picture.FIRST in seen
    assert picture.SECOND[: picture.HALF] in seen
    assert "REPLAY" not in seen
    assert re.search(r"rev \d+", seen)


def test_it_is_written_as_svg_or_png(tmp_path: Path) -> None:
    pytest.importorskip("cairosvg")
    drawn = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 12 6"><text font-family="Fira Code">a</text></svg>'
    picture.save(drawn, tmp_path / "main.svg")
    picture.save(drawn, tmp_path / "main.png")
    assert (tmp_path / "main.svg").read_text() == drawn
    assert (tmp_path / "main.png").read_bytes().startswith(b"\x89PNG")
