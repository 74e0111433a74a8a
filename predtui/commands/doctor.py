"""What is found and what is missing on this machine, one line each with its remedy.

Must not start anything but the self-test of a model, where it is asked for.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from predtui.config import user_file
from predtui.errors import PredtuiError
from predtui.models.published import REAL, find, how, megabytes, missing
from predtui.registry import RECOGNISERS, SYNTHESISERS, Registry
from predtui.runtime.build import resolved
from predtui.settings import AsrSettings, Settings, TtsSettings, state_folder

State = Literal["found", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``needed``: whether a typed turn cannot work without it."""

    subject: str
    state: State
    detail: str
    remedy: str = ""
    needed: bool = False


def examine(settings: Settings, testing: bool = False) -> Iterator[Finding]:
    """All findings, in the order a turn passes through them. ``testing``: llama.cpp is tested on the model's weights,
    in a process of its own, instead of telling what an earlier test has found; and whether the model is exact."""
    named = resolved(settings)
    for check in CHECKS:
        try:
            yield from check(named)
            if check is _language_model:
                yield from _threads(named)
                yield from _repacking(named, testing)
                if testing:
                    yield from _exactness(named)
        except Exception as error:  # a check that fails must not hide the others
            yield Finding(check.__name__.removeprefix("_"), "broken", f"{type(error).__name__}: {error}")


def typed_turn_works(findings: list[Finding]) -> bool:
    return all(finding.state == "found" for finding in findings if finding.needed)


def _python(_: Settings) -> Iterator[Finding]:
    cores = os.cpu_count()
    detail = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {cores} cores"
    recent = sys.version_info >= (3, 11)
    remedy = "" if recent else "Install Python 3.11 or newer."
    yield Finding("python", "found" if recent else "broken", detail, remedy, needed=True)


def _terminal(_: Settings) -> Iterator[Finding]:
    if not sys.stdout.isatty():
        yield Finding("terminal", "missing", "output is not a terminal", "Run predtui in one to see the screen.")
        return
    size = shutil.get_terminal_size()
    kind = os.environ.get("TERM", "unknown")
    colours = "truecolor" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else kind
    detail = f"{size.columns}x{size.lines}, {colours}, {sys.stdout.encoding}"
    if size.columns < 80 or size.lines < 24:
        yield Finding("terminal", "found", detail, "Panes need 80x24 to be comfortable: enlarge the window.")
    else:
        yield Finding("terminal", "found", detail)


def _settings(_: Settings) -> Iterator[Finding]:
    path = user_file()
    yield Finding("settings", "found", str(path) if path.exists() else f"defaults ({path} is not there)")
    folder = state_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free / 2**20
        yield Finding("log folder", "found", f"{folder}, {free:.0f} MB free")
    except OSError as error:
        yield Finding("log folder", "broken", f"{folder}: {error}", "Set PREDTUI_STATE_DIR to a folder you may write.")


def _language_model(settings: Settings) -> Iterator[Finding]:
    if settings.llm.engine == "llamacpp":
        yield _llama_cpp(settings)
    from predtui.llm.load import inspect

    try:
        yield Finding("language model", "found", inspect(settings.llm.model, settings.llm.engine), needed=True)
    except PredtuiError as error:
        yield Finding("language model", "broken", error.message, error.remedy, needed=True)


def _threads(settings: Settings) -> Iterator[Finding]:
    """How many a forward of llama.cpp takes, and whether its build keeps it from taking more."""
    from predtui.llm.gguf import read_header
    from predtui.llm.llamacpp import compile as build
    from predtui.llm.llamacpp.engine import file_of
    from predtui.llm.llamacpp.threads import gives_way, llama_threads
    from predtui.llm.threads import default_threads

    if settings.llm.engine != "llamacpp" or not build.available():
        return
    if settings.llm.threads:
        yield Finding("threads", "found", f"{settings.llm.threads}, as the settings say")
        return
    try:
        parameters = read_header(file_of(settings.llm.model)).parameters
    except PredtuiError:
        return  # the line above has said so
    threads = llama_threads(parameters)
    if gives_way() or threads == default_threads(parameters, gives_way=True):
        yield Finding("threads", "found", f"{threads} for this model{', fewer while others work' * (threads > 1)}")
    else:
        detail = f"{threads} for this model: one core is left, since llama.cpp was not compiled for predtui"
        yield Finding("threads", "found", detail, build.COMPILE)


def _repacking(settings: Settings, testing: bool) -> Iterator[Finding]:
    """Whether llama.cpp may repack the model's weights, and how that is known."""
    from predtui.llm.gguf import read_header
    from predtui.llm.llamacpp import repacking
    from predtui.llm.llamacpp.engine import file_of
    from predtui.llm.llamacpp.threads import llama_threads

    if settings.llm.engine != "llamacpp":
        return
    path = file_of(settings.llm.model)
    try:
        header = read_header(path)
    except PredtuiError:
        return  # the line above has said so
    threads, kinds = settings.llm.threads or llama_threads(header.parameters), repacking.concerned(header.weights)
    if not kinds:
        yield Finding("weight repacking", "found", "never done to this model's types: nothing to test")
        return
    if testing:
        verdict: repacking.Verdict | None = repacking.self_test(path, header.weights, threads)
    else:
        verdict = repacking.remembered(header.weights, threads)
    if verdict is None:
        detail = f"not tested yet for {', '.join(kinds)}: it is when the model is first loaded"
        yield Finding("weight repacking", "found", detail, "Test it now: predtui doctor --model FILE")
        return
    detail = f"{'on' if verdict.repacked else 'off'} for {', '.join(kinds)}: {verdict.found} ({verdict.tested})"
    broken = bool(verdict.remedy)
    yield Finding("weight repacking", "broken" if broken else "found", detail, verdict.remedy, needed=broken)


def _exactness(settings: Settings) -> Iterator[Finding]:
    """Whether logits depend on how many tokens are evaluated at once, and what it costs that they do not."""
    from predtui.llm.llamacpp.exactness import UNPADDED, cost, exactness_of
    from predtui.llm.load import load

    llm = settings.llm
    try:
        model = load(llm.model, llm.engine, llm.threads or None, llm.context, weights=llm.weights).model
    except PredtuiError:
        return  # a line above has said so
    exactness = exactness_of(model)
    detail = str(exactness)
    if exactness.padding != UNPADDED:
        padded, alone = cost(model, exactness.padding)
        detail += f"; plain decoding takes {padded:.1f} ms a token, {alone:.1f} ms if it need not be exact"
    model.close()
    yield Finding("exactness", "found", detail)


def _llama_cpp(settings: Settings) -> Finding:
    from predtui.llm.llamacpp import compile as build
    from predtui.llm.llamacpp.engine import stands_in

    if build.available():
        return _package("llama.cpp", "llama-cpp-python", "llama_cpp", needed=True)
    why, numpy = str(build.current() or "not installed"), stands_in(settings.llm.model)
    return Finding("llama.cpp", "missing", f"{why}{'; numpy answers' if numpy else ''}", build.REMEDY, not numpy)


def _real_models(settings: Settings) -> Iterator[Finding]:
    """Whether they are there, and whether they are used."""
    if absent := missing():
        detail = f"not installed: {', '.join(model.name for model in absent)}"
        remedy = f"To hear people and talk about anything ({megabytes(absent)} MB): {how()}"
        yield Finding("real models", "missing", detail, remedy)
    for model in REAL:
        if model not in absent:
            detail = f"{model.name}, {model.licence}, {find(model)}"
            used = model.name in (settings.llm.model, settings.asr.model)
            yield Finding("real models", "found", detail if used else f"{detail}, not used with these settings")


def _synthesiser(settings: Settings) -> Iterator[Finding]:
    from predtui.tts.stage import SPARE

    if settings.tts.engine == "none":
        yield Finding("synthesiser", "missing", "switched off", f"Set tts.engine to {SPARE} to hear replies.")
        return
    if settings.tts.engine != SPARE:
        yield from _checked(SYNTHESISERS, settings.tts.engine, settings.tts, settings.tts.engine)
    yield from _checked(SYNTHESISERS, SPARE, settings.tts, "synthesiser", "broken")


def _recogniser(settings: Settings) -> Iterator[Finding]:
    for entry in RECOGNISERS.values():
        if entry.package:
            yield _package(entry.name, entry.package, entry.package.replace("-", "_"))
    yield from _checked(RECOGNISERS, settings.asr.engine, settings.asr, "whisper checkpoint")


def _checked(
    registry: Registry, name: str, options: AsrSettings | TtsSettings, subject: str, otherwise: State = "missing"
) -> Iterator[Finding]:
    """What the engine's own check finds; nothing where it has none, or nothing to tell."""
    try:
        check = registry.check(name)
        if found := check(options) if check else "":
            yield Finding(subject, "found", found)
    except PredtuiError as error:
        yield Finding(subject, otherwise, error.message, error.remedy)


def _sound(settings: Settings) -> Iterator[Finding]:
    from predtui.audio.devices import NOUN, Kind, find

    chosen: dict[Kind, str] = {"input": settings.audio.input, "output": settings.audio.output}
    for kind, name in chosen.items():
        if name == "none":
            yield Finding(NOUN[kind], "missing", "switched off", f"Clear audio.{kind} to use one.")
            continue
        try:
            device = find(kind, name)
            yield Finding(NOUN[kind], "found", f"{device.index} {device.name}, {device.rate} Hz")
        except PredtuiError as error:
            yield Finding(NOUN[kind], "missing", error.message, error.remedy)


def _gpu(_: Settings) -> Iterator[Finding]:
    from predtui.runtime.monitor import Gpu

    if name := Gpu().name:
        yield Finding("gpu", "found", name)
    else:
        yield Finding("gpu", "missing", "no NVIDIA GPU; the CPU does all the work", "None needed for the pocket model.")


def _torch(settings: Settings) -> Iterator[Finding]:
    needed = settings.llm.engine == "torch"
    wants = "The torch engine needs it" if needed else "Only the torch engine and training need it"
    yield _package("torch", "torch", "torch", f"{wants}: pip install 'predtui[torch]'", needed)


def _package(subject: str, distribution: str, module: str, remedy: str = "", needed: bool = False) -> Finding:
    if importlib.util.find_spec(module) is None:
        return Finding(subject, "missing", "not installed", remedy or f"pip install {distribution}", needed)
    return Finding(subject, "found", f"{distribution} {importlib.metadata.version(distribution)}", needed=needed)


CHECKS: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
    _python, _terminal, _settings, _language_model, _real_models, _synthesiser, _recogniser, _sound, _gpu, _torch,
)  # fmt: skip
