"""What is asked of the screen: letters out of what a terminal gets, and a long conversation to go on with."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

from predtui.lab.bench.screen import COMMANDS, busy, long_conversation
from predtui.state.kept.store import LAST, Store


def test_what_commands_a_terminal_is_no_letter() -> None:
    drawn = b"\x1b[2;5H\x1b[38;2;1;2;3mwhat is\x1b[0m \x1b]52;c;eA==\x07th\x1b[?25le"
    assert COMMANDS.sub(b"", drawn) == b"what is the"


def test_a_long_conversation_is_one_to_go_on_with(tmp_path: Path) -> None:
    long_conversation(tmp_path, 30)
    with Store(tmp_path / "conversations" / "conversations.db") as store:
        exchanges = store.exchanges(store.find(LAST).number)
    assert len(exchanges) == 30
    assert exchanges[-1].user == "what is 29 plus 29"


def test_a_busy_machine_is_left_as_it_was() -> None:
    with busy():
        assert len(multiprocessing.active_children()) == os.cpu_count()
    assert not multiprocessing.active_children()
