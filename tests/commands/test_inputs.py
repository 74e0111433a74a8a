"""What a command is to read is refused before it begins where it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from predtui.commands.inputs import existing
from predtui.errors import PredtuiError


def test_a_file_or_a_folder_is_there_or_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert existing(None) is None
    for there in (tmp_path, tmp_path / "file"):
        assert existing(there) == there
    with pytest.raises(PredtuiError, match="does not exist"):
        existing(tmp_path / "absent")
    with pytest.raises(PredtuiError, match="Not a directory"):
        existing(tmp_path / "file" / "below")
