"""What is found and what is missing on this machine, one line each with its remedy.

Must not start anything but the self-test of a model, or its decoder, where that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from predtui.commands.checks import language_model, machine, speech, talk_key
from predtui.commands.checks.finding import Finding
from predtui.commands.checks.ideas import ideas
from predtui.runtime.build import resolved
from predtui.settings import Settings

Check = Callable[[Settings], Iterator[Finding]]
VITAL = ("python", "language_model", "weight_repacking", "abilities", "decoding")
"""Checks of what a typed turn cannot work without."""


def examine(settings: Settings, testing: bool = False, problem: str = "", trying: bool = False) -> Iterator[Finding]:
    """All findings, in the order a turn passes through them. ``testing``: llama.cpp is tested on the model's weights,
    in a process of its own, instead of reporting what an earlier test has found; and whether the model is exact.
    ``trying``: verifier, decoder and drafter are made for the model. ``problem``: why the settings file is not used."""
    if problem:
        yield Finding("settings file", "broken", problem, needed=True)
    named = resolved(settings)
    for check in checks(testing, trying):
        try:
            yield from check(named)
        except Exception as error:  # a check that fails must not hide the others, and answers for what it looks at
            detail = f"the check failed: {type(error).__name__}: {error}"
            yield Finding(check.__name__.replace("_", " "), "broken", detail, needed=check.__name__ in VITAL)


def checks(testing: bool, trying: bool = False) -> tuple[Check, ...]:
    """In the order in which a turn passes what they look at."""

    def weight_repacking(settings: Settings) -> Iterator[Finding]:
        return language_model.repacking(settings, testing)

    def decoding(settings: Settings) -> Iterator[Finding]:
        return ideas(settings, trying)

    return (
        machine.python, machine.terminal, talk_key.talk_key, machine.settings, machine.conversations,
        machine.confinement,
        language_model.language_model, language_model.server, language_model.threads, weight_repacking,
        *([language_model.abilities] if testing else []),
        decoding, language_model.real_models, speech.synthesiser, speech.pronunciations,
        speech.recogniser,
        machine.sound, machine.echo, machine.gpu, machine.energy, language_model.torch,
    )  # fmt: skip


def typed_turn_works(findings: list[Finding]) -> bool:
    return all(finding.state == "found" for finding in findings if finding.needed)
