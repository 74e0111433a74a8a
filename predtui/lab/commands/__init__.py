"""The laboratory's commands: bench, train, calibrate. ``predtui.commands.cli`` finds them as an entry point."""

from __future__ import annotations

from predtui.commands.with_settings import Commands
from predtui.lab.commands.bench import bench
from predtui.lab.commands.calibrate import calibrate
from predtui.lab.commands.train import train


def attach(app: Commands) -> None:
    """Add the commands to ``app``."""
    app.add_typer(train, name="train")
    app.add_typer(bench, name="bench")
    app.command()(calibrate)
