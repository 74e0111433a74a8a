"""The verifier, decoder and drafter that are chosen, by what their registry entries say of themselves."""

from __future__ import annotations

from collections.abc import Iterator

from predtui.commands.checks.finding import Finding
from predtui.registry import DECODERS, DRAFTERS, NEEDS, VERIFIERS, Registry
from predtui.settings import AUTO, Settings


def ideas(settings: Settings) -> Iterator[Finding]:
    """What each does, whether it is lossless, and what it needs. The decoder ``auto`` is none, and has no drafter."""
    llm = settings.llm
    yield _chosen(VERIFIERS, llm.verifier)
    if llm.decoder == AUTO:
        return
    yield _chosen(DECODERS, llm.decoder)
    if "drafter" in DECODERS.find(llm.decoder).needs:
        yield _chosen(DRAFTERS, llm.drafter)


def _chosen(registry: Registry, name: str) -> Finding:
    entry = registry.find(name)
    needs = f"; needs {' and '.join(NEEDS[need] for need in sorted(entry.needs))}" if entry.needs else ""
    return Finding(registry.kind, "found", registry.line(name) + needs)
