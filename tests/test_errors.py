"""What an exception is in one line."""

from __future__ import annotations

import pytest

from predtui.errors import described


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "memory has run out"),
        (MemoryError("Unable to allocate 2 GiB."), "memory has run out: Unable to allocate 2 GiB"),
        (
            ImportError("a.so: failed to map segment from shared object"),
            "memory has run out: a.so: failed to map segment from shared object",
        ),
        (ValueError("one\ntwo"), "ValueError: one"),
        (KeyError(), "KeyError"),
    ],
)
def test_an_error_says_its_kind_and_what_it_says_where_it_says_anything(error: Exception, line: str) -> None:
    assert described(error) == line
