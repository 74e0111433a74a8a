from __future__ import annotations

import io

import pytest
from rich.table import Table

from predtui.commands.console import console
from predtui.foreign import gated
from tests import foreign


def test_cells_and_lines_are_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", gated(out))
    screen = console(150)
    for text in foreign.strings(300):
        table = Table("name", title=text)
        table.add_row(text)
        screen.print(table)
        screen.print(text, soft_wrap=True)
    said = foreign.OWN.sub("", out.getvalue())
    assert set(foreign.forbidden(said)) <= {"\n"}
    for text in foreign.MARKUP:
        assert said.count(text) >= 2


def test_a_terminal_is_drawn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A progress bar moves the cursor, which a gated stream would not let through."""
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", gated(out))
    screen = console()
    screen._force_terminal = True
    screen.show_cursor(False)
    assert out.getvalue() == "\x1b[?25l"
