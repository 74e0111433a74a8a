"""What the tests of the lab's commands share."""

from __future__ import annotations

import pytest
import typer

from predtui.commands.with_settings import Commands
from predtui.lab import commands


@pytest.fixture
def app() -> typer.Typer:
    """A command line with the lab's commands and none besides."""
    made = Commands()
    made.callback()(lambda: None)
    commands.attach(made)
    return made
