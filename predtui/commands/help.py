"""What ``--help`` says: commands first, the settings that one needs most, and where the others are told of. Knows
nothing of what a command does."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from predtui.errors import PredtuiError
from predtui.settings import Option, options, sections

FREQUENT = (
    "llm.model", "llm.verifier", "llm.decoder", "llm.notes", "asr.engine", "tts.engine", "ui.theme", "ui.plain",
)  # fmt: skip
"""The settings that ``--help`` has a line for."""
ABOUT = {
    "llm": "the language model: which, where it runs, how it guesses, verifies and decodes",
    "asr": "the recogniser",
    "tts": "the synthesiser and its voice",
    "audio": "microphone, loudspeaker, and when a spoken turn ends",
    "ui": "the screen, or lines instead",
    "safety": "what the stages may reach",
    "sessions": "what is kept of conversations",
}
"""Section → what its settings are about."""
OTHERS = "All others: predtui help settings; the file to keep them in: predtui doctor."
WHOLE = "predtui.whole"
"""What a context has in its ``meta`` where every setting is to be shown."""
SHELLS = ("bash", "zsh", "fish")


def parameter(key: str) -> str:
    """Of a command: the name of what receives the setting ``key``."""
    return key.replace(".", "_")


def flags(item: Option) -> list[str]:
    """What the setting is called on the command line, the short name first."""
    long = "--" + item.key.replace(".", "-").replace("_", "-")
    return [f"--{item.flag}", long] if item.flag else [long]


def explained(item: Option) -> str:
    """What the setting means, and what it may be."""
    said = f"{item.meaning}. {'; '.join(item.ideas.lines())}." if item.ideas else item.meaning
    values = f" ({', '.join(item.choices)})" if item.choices and not item.ideas else ""
    return f"{said}{values} (default: {item.default!r})"


class Brief(TyperCommand):
    """Its own options whole, and one line for each of the settings that one needs most."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_options(self, ctx, formatter)

    def get_short_help_str(self, limit: int = 0) -> str:
        """The first sentence: where there is too little room for it, it is wrapped."""
        return super().get_short_help_str(sys.maxsize)


class BriefGroup(TyperGroup):
    """The same, below its commands."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.format_commands(ctx, formatter)
        _write_options(self, ctx, formatter)


def _write_options(command: Any, context: Any, formatter: Any) -> None:
    every = command.get_params(context)
    brief = any(one.name == "help_all" for one in every)
    table = {parameter(key) for key in options()} if brief else set()
    settings = [one for one in every if one.name in table]
    own = [one for one in every if one.name not in table]
    for title, kind in (("Arguments", "argument"), ("Options", "option")):
        records = [one.get_help_record(context) for one in own if one.param_type_name == kind]
        if rows := [record for record in records if record]:
            with formatter.section(title):
                formatter.write_dl(rows)
    if not settings:
        return
    whole = WHOLE in context.meta
    with formatter.section("Settings"):
        formatter.write_dl(
            [one.get_help_record(context) for one in settings]
            if whole
            else [(flags(options()[key])[0], _brief(options()[key])) for key in FREQUENT]
        )
        if not whole:
            formatter.write_text(OTHERS)


def _brief(item: Option) -> str:
    """What comes first of its meaning, and its values where they are few."""
    meaning = item.meaning.split(":")[0].split(";")[0]
    names = ", ".join(item.choices)
    return f"{meaning}: {names}" if item.choices and len(meaning + names) < 50 else meaning


def show_all(context: typer.Context, wanted: bool) -> None:
    """Of ``--help-all``: the help of a command with every setting, and no more."""
    if wanted and not context.resilient_parsing:
        context.meta[WHOLE] = True
        print(context.get_help())
        raise typer.Exit


def show_help(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(help="A command; or: keys; or: settings, and a group of them.", metavar="[WORDS]..."),
    ] = None,
) -> None:
    """Help for a command, or: help keys, help settings [GROUP]."""
    root = context.find_root()
    named = words or []
    if named == ["keys"]:
        print(_keys())
        return
    if named[:1] == ["settings"]:
        print(_settings(root, named[1:]))
        return
    command, shown = root.command, root
    for name in named:
        found = getattr(command, "commands", {}).get(name)
        if found is None:
            raise PredtuiError(f"there is no command {' '.join(named)!r}.", "See: predtui --help")
        command, shown = found, typer.Context(found, info_name=name, parent=shown)
    print(shown.get_help())


def _keys() -> str:
    """Every key by the name that the file of keys has for it."""
    from predtui.settings import user_folder
    from predtui.tui.actions import bound, named_keys, use
    from predtui.tui.keymap import NAME, WHERE, read_keymap
    from predtui.tui.keys import PRESETS

    file = user_folder() / NAME
    keymap = read_keymap(file, bound())
    use(keymap.keys)
    lines = [
        f"# The keys as they are. Write those that are to be others into {file}.",
        f'# "" takes a key away; preset = "NAME" above [keys] begins with a set of keys: {", ".join(PRESETS)}.',
        *(f"# {problem}" for problem in keymap.problems),
        "[keys]",
    ]
    for scope, where in WHERE.items():
        lines += [f"# {where}", *(f'{name} = "{keys}"' for name, keys in named_keys(scope))]
    return "\n".join(lines)


def _settings(root: Any, groups: Sequence[str]) -> str:
    """The groups, and what is in each; or each setting of one."""
    formatter = root.make_formatter()
    if not groups:
        formatter.write_text(
            "Settings by group. Explained: predtui help settings GROUP. On the command line, llm's threads is "
            "--llm-threads; in the environment PREDTUI_LLM_THREADS; in settings.toml (predtui doctor says where) "
            "threads, below [llm]."
        )
        for section in sections():
            with formatter.section(f"{section}: {ABOUT[section]}"):
                formatter.write_text(", ".join(item.key.partition(".")[2] for item in _of(section)))
        return str(formatter.getvalue().rstrip())
    unknown = [name for name in groups if name not in sections()]
    if unknown:
        raise PredtuiError(f"there is no group {unknown[0]!r} of settings.", f"There are: {', '.join(sections())}.")
    for name in groups:
        with formatter.section(f"{name}: {ABOUT[name]}"):
            formatter.write_dl([(f"{', '.join(flags(item))}", explained(item)) for item in _of(name)])
    return str(formatter.getvalue().strip("\n"))


def _of(section: str) -> list[Option]:
    return [item for key, item in options().items() if key.startswith(f"{section}.")]


def completion(
    context: typer.Context,
    shell: Annotated[str, typer.Argument(help=f"One of {', '.join(SHELLS)}.", autocompletion=lambda: list(SHELLS))],
) -> None:
    """Print what completes predtui in bash, zsh or fish. In ~/.bashrc: eval "$(predtui completion bash)"."""
    from typer import completion as scripts

    if shell not in SHELLS:
        raise PredtuiError(f"no completion for {shell!r}.", f"There is one for {', '.join(SHELLS)}.")
    scripts.show_callback(context, None, shell)  # type: ignore[arg-type]
