"""The recogniser and the synthesiser, by what their registry entries say of themselves."""

from __future__ import annotations

from collections.abc import Iterator

from predtui.commands.checks.finding import Finding, State, package_finding
from predtui.errors import PredtuiError
from predtui.registry import RECOGNISERS, SYNTHESISERS, Registry
from predtui.settings import AsrSettings, Settings, TtsSettings


def synthesiser(settings: Settings) -> Iterator[Finding]:
    """The one that the settings name, and the spare one."""
    from predtui.tts.stage import SPARE, spare_of

    if settings.tts.engine == "none":
        yield Finding("synthesiser", "missing", "switched off", f"Set tts.engine to {SPARE} to hear replies.")
        return
    if settings.tts.engine != SPARE:
        yield from _checked(SYNTHESISERS, settings.tts.engine, settings.tts, settings.tts.engine)
    yield from _checked(SYNTHESISERS, SPARE, spare_of(settings.tts), "synthesiser", "broken")


def pronunciations(_: Settings) -> Iterator[Finding]:
    """The user's own, and what of them cannot be used."""
    from predtui.tts.pronunciations import read, user_file

    path = user_file()
    words, problem = read(path)
    if problem:
        yield Finding("pronunciations", "broken", problem, "Correct it, or move it away.")
    else:
        held = f"{path}, {len(words)} word{'' if len(words) == 1 else 's'}"
        yield Finding("pronunciations", "found", held if path.exists() else f"none of your own ({path} is not there)")


def recogniser(settings: Settings) -> Iterator[Finding]:
    """The packages there are; then, under its name, what the one of the settings has to have."""
    for entry in RECOGNISERS.values():
        if entry.package:
            yield package_finding(entry.name, entry.package, entry.package.replace("-", "_"))
    yield from _checked(RECOGNISERS, settings.asr.engine, settings.asr, settings.asr.engine)


def _checked(
    registry: Registry, name: str, options: AsrSettings | TtsSettings, subject: str, otherwise: State = "missing"
) -> Iterator[Finding]:
    """What the engine's own check finds; nothing if it has none, or nothing to say."""
    try:
        check = registry.check(name)
        if found := check(options) if check else "":
            yield Finding(subject, "found", found)
    except PredtuiError as error:
        yield Finding(subject, otherwise, error.message, error.remedy)
