"""Whether a model fits is told before it is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm import room
from predtui.llm.memory import Memory


@given(st.integers(0, 1 << 40), st.integers(1, 1 << 40), st.integers(0, 1 << 40))
def test_what_fits_is_less_than_what_is_free(size: int, total: int, free: int) -> None:
    free = min(free, total)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(room, "ram", lambda: Memory("RAM", total, free))
        said = room.too_large(size)
    assert (said == "") == (room.needed(size) <= free)
    assert ("free" in said) == (free < room.needed(size) <= total)
