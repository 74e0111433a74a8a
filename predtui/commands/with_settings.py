"""Commands whose options are the settings. Imports nothing heavy."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from predtui.settings import load, options

Command = Callable[..., Any]


def with_settings(command: Command) -> Command:
    """Gives a command one option a setting; the command's parameter ``settings`` receives what all sources say."""
    own = inspect.signature(command, eval_str=True)
    table = {key.replace(".", "_"): item for key, item in options().items()}

    @functools.wraps(command)
    def wrapper(*args: Any, **given: Any) -> Any:
        chosen = {table[name].key: given.pop(name) for name in table if name in given}
        settings = load({key: value for key, value in chosen.items() if value is not None})
        return command(*args, settings=settings, **given)

    added = [_parameter(name, item) for name, item in table.items()]
    kept = [parameter for parameter in own.parameters.values() if parameter.name != "settings"]
    wrapper.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in [*kept, *added]}
    del wrapper.__wrapped__
    return wrapper


def _parameter(name: str, item: Any) -> inspect.Parameter:
    long = "--" + item.key.replace(".", "-").replace("_", "-")
    flags = [f"--{item.flag}", long] if item.flag else [long]
    if item.kind is bool:
        flags = [f"{flag}/--no-{flag.removeprefix('--')}" for flag in flags]
    meaning = item.meaning + (f" ({', '.join(item.choices)})" if item.choices else "") + f" [dim]{item.default!r}[/]"
    declared = typer.Option(*flags, help=meaning, show_default=False, rich_help_panel="Settings")
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[item.kind | None, declared]
    )
