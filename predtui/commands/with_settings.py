"""Commands whose options are the settings, before the command's name or after it. Imports nothing heavy."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from predtui.config import load_or_default
from predtui.errors import PredtuiError
from predtui.settings import Option, options

Command = Callable[..., Any]


class Commands(typer.Typer):
    """Commands that take the settings given before their name as their own options' defaults. Their help is plain text:
    tables cut the names of options where the terminal is narrow."""

    def __init__(self, **options: Any) -> None:
        super().__init__(rich_markup_mode=None, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Command], Command]:  # type: ignore[override]
        return super().command(name, cls=_Command, **options)


class _Command(TyperCommand):
    """Raises PredtuiError where a setting stands before a command that does not take it."""

    def invoke(self, context: Any) -> Any:
        before = context.find_root().params
        for key in options():
            name = _name(key)
            if before.get(name) is None:
                continue
            if name not in context.params:
                flag, command = _flags(options()[key])[0], context.command_path
                raise PredtuiError(
                    f"{command} does not take {flag} from before its name.", f"See its own options: {command} --help"
                )
            if context.params[name] is None:
                context.params[name] = before[name]
        return super().invoke(context)

    def get_short_help_str(self, limit: int = 0) -> str:
        """The first sentence: where there is too little room for it, it is wrapped."""
        return super().get_short_help_str(sys.maxsize)


def with_settings(command: Command) -> Command:
    """Gives a command one option a setting; the command's parameter ``settings`` receives what all sources say.

    A settings file that cannot be used ends the command, unless it has a parameter ``problem``: that is then told why,
    and the settings are those of the other sources.
    """
    own = inspect.signature(command, eval_str=True)
    table = {_name(key): item for key, item in options().items()}
    lenient = "problem" in own.parameters

    @functools.wraps(command)
    def wrapper(*args: Any, **given: Any) -> Any:
        chosen = {table[name].key: given.pop(name) for name in table if name in given}
        settings, problem = load_or_default({key: value for key, value in chosen.items() if value is not None})
        if lenient:
            given["problem"] = problem
        elif problem:
            raise PredtuiError(problem)
        return command(*args, settings=settings, **given)

    added = [_parameter(name, item) for name, item in table.items()]
    kept = [parameter for parameter in own.parameters.values() if parameter.name not in ("settings", "problem")]
    wrapper.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in [*kept, *added]}
    del wrapper.__wrapped__
    return wrapper


def _name(key: str) -> str:
    """Of the parameter that receives the setting ``key``."""
    return key.replace(".", "_")


def _flags(item: Option) -> list[str]:
    """What the setting is called on the command line, the short name first."""
    long = "--" + item.key.replace(".", "-").replace("_", "-")
    return [f"--{item.flag}", long] if item.flag else [long]


def _help(item: Option) -> str:
    """What the setting means, and what it may be."""
    if item.ideas:
        return f"{item.meaning}. {'; '.join(item.ideas.lines())}."
    return item.meaning + (f" ({', '.join(item.choices)})" if item.choices else "")


def _parameter(name: str, item: Option) -> inspect.Parameter:
    flags = _flags(item)
    if item.kind is bool:
        flags = [f"{flag}/--no-{flag.removeprefix('--')}" for flag in flags]
    declared = typer.Option(
        *flags,
        help=f"{_help(item)} (default: {item.default!r})",
        show_default=False,
    )
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[item.kind | None, declared]
    )
