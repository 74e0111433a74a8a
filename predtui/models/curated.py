"""The models that predtui proposes: data, out of ``curated.toml``. Fetches nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from predtui.files import parse_toml

KINDS = {"llm": "language models", "asr": "recognisers", "tts": "voices"}
"""What a model is for, by the stage that runs it."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """``source``: as ``predtui models pull`` takes it; ``megabytes``: of its files, about, in 10^6 bytes; ``memory``:
    that it takes at work, about, likewise; ``engine``: what speaks with it, of a voice."""

    name: str
    kind: str
    source: str
    megabytes: int
    memory: int
    licence: str
    languages: str
    good: str
    engine: str = ""

    @property
    def option(self) -> str:
        """What names it on the command line."""
        flags = {"llm": "--model", "asr": "--asr-model", "tts": f"--tts {self.engine} --tts-model"}
        return f"{flags[self.kind]} {self.name}"


@cache
def proposals() -> dict[str, Proposal]:
    """By name, in the order of the list."""
    text = Path(__file__).with_name("curated.toml").read_text(encoding="utf-8")
    return {name: Proposal(name, **entry) for name, entry in parse_toml(text).items()}


def source(name: str) -> str:
    """What a name of the list stands for; any other name for itself."""
    proposal = proposals().get(name)
    return proposal.source if proposal else name
