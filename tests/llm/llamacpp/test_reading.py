"""A file is read piece by piece, and no further than it is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from predtui.llm.llamacpp import reading
from predtui.llm.llamacpp.reading import read_ahead


@pytest.mark.parametrize("there", [True, False])
def test_every_byte_of_every_file_is_told_once(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PIECE", 1000)
    monkeypatch.setattr(reading, "_there", lambda file, start, length: there)
    paths, heard = [], []
    for number, size in enumerate((2500, 0, 1000)):
        paths.append(tmp_path / str(number))
        paths[-1].write_bytes(bytes(size))
    assert read_ahead(paths, lambda done, total: heard.append((done, total)) or True)  # type: ignore[func-returns-value]
    assert heard == [(done, 3500) for done in (1000, 2000, 2500, 3500)]
    assert not read_ahead(paths, lambda done, total: done < 2000)
    with pytest.raises(OSError, match="No such file"):
        read_ahead([tmp_path / "gone"], lambda done, total: True)


def test_what_is_in_memory_is_seen_to_be(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(100_000))
    with path.open("rb") as file:
        assert reading._there(file.fileno(), 0, 100_000)
