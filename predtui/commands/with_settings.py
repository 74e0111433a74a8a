"""Commands whose options are the settings, before the command's name or after it. Imports nothing heavy."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from predtui.commands.help import Brief, BriefGroup, explained, flags, parameter, show_all
from predtui.config import load_or_default
from predtui.errors import PredtuiError
from predtui.settings import Option, options

Command = Callable[..., Any]


class Commands(typer.Typer):
    """Commands that take the settings given before their name as their own options' defaults. Their help is plain text:
    tables cut the names of options where the terminal is narrow."""

    def __init__(self, **options: Any) -> None:
        super().__init__(rich_markup_mode=None, cls=BriefGroup, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Command], Command]:  # type: ignore[override]
        return super().command(name, cls=_Command, **options)


class _Command(Brief):
    """Raises PredtuiError where a setting stands before a command that does not take it."""

    def invoke(self, context: Any) -> Any:
        before = context.find_root().params
        for key in options():
            name = parameter(key)
            if before.get(name) is None:
                continue
            if name not in context.params:
                flag, command = flags(options()[key])[0], context.command_path
                raise PredtuiError(
                    f"{command} does not take {flag} from before its name.", f"See its own options: {command} --help"
                )
            if context.params[name] is None:
                context.params[name] = before[name]
        return super().invoke(context)


def with_settings(command: Command) -> Command:
    """Gives a command one option a setting; the command's parameter ``settings`` receives what all sources say.

    A settings file that cannot be used ends the command, unless it has a parameter ``problem``: that is then told why,
    and the settings are those of the other sources.
    """
    own = inspect.signature(command, eval_str=True)
    table = {parameter(key): item for key, item in options().items()}
    lenient = "problem" in own.parameters

    @functools.wraps(command)
    def wrapper(*args: Any, **given: Any) -> Any:
        given.pop(HELP_ALL.name, None)
        chosen = {table[name].key: given.pop(name) for name in table if name in given}
        settings, problem = load_or_default({key: value for key, value in chosen.items() if value is not None})
        if lenient:
            given["problem"] = problem
        elif problem:
            raise PredtuiError(problem)
        return command(*args, settings=settings, **given)

    added = [HELP_ALL, *_parameters()]
    kept = [one for one in own.parameters.values() if one.name not in ("settings", "problem")]
    wrapper.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {one.name: one.annotation for one in [*kept, *added]}
    del wrapper.__wrapped__
    return wrapper


@functools.cache
def _parameters() -> tuple[inspect.Parameter, ...]:
    """One a setting, the same for every command."""
    return tuple(_parameter(parameter(key), item) for key, item in options().items())


def _parameter(name: str, item: Option) -> inspect.Parameter:
    names = flags(item)
    if item.kind is bool:
        names = [f"{flag}/--no-{flag.removeprefix('--')}" for flag in names]

    def going_on(incomplete: str) -> list[str]:
        return [choice for choice in item.choices if choice.startswith(incomplete)]

    declared = typer.Option(
        *names,
        help=explained(item),
        show_default=False,
        autocompletion=going_on if item.choices else None,  # to look at such a function takes its time
    )
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[item.kind | None, declared]
    )


HELP_ALL = inspect.Parameter(
    "help_all",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option("--help-all", help="This, with every setting.", is_eager=True, callback=show_all),
    ],
)
