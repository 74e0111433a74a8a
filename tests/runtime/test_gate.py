"""Lines that wait: none is lost, none overtakes another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.runtime.gate import Backlog
from predtui.runtime.typing import Typed


@given(st.lists(st.tuples(st.text("abc", min_size=1, max_size=5), st.booleans())))
def test_every_line_that_was_ended_comes_out_in_order_and_the_open_one_as_it_stands(
    keys: list[tuple[str, bool]],
) -> None:
    backlog = Backlog()
    for text, final in keys:
        backlog.put(Typed(text, final=final))
    ended = [text for text, final in keys if final]
    assert backlog.texts == tuple(ended)
    open_line = [keys[-1][0]] if keys and not keys[-1][1] else []
    taken = [backlog.take().text for _ in range(len(ended) + len(open_line))]
    assert taken == ended + open_line
    assert not backlog
    with pytest.raises(IndexError):
        backlog.take()
