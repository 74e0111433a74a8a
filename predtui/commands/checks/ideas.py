"""The verifier, decoder and drafter that are chosen, by what their registry entries say of themselves, and, where that
is asked for, whether they work with the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from predtui.commands.checks.finding import Finding
from predtui.errors import PredtuiError
from predtui.registry import DECODERS, DRAFTERS, NEEDS, VERIFIERS, Registry
from predtui.settings import AUTO, LlmSettings, Settings

if TYPE_CHECKING:
    from predtui.decoding.base import Sampler
    from predtui.llm.base import LoadedModel


def ideas(settings: Settings, trying: bool = False) -> Iterator[Finding]:
    """What each does, whether it is lossless, and what it needs; ``trying``: whether that is there, by making it for
    the model. The decoder ``auto`` is none, and has no drafter."""
    llm = settings.llm
    drafts = llm.decoder != AUTO
    with ExitStack() as opened:
        loaded = _loaded(llm, opened) if trying and (drafts or llm.verifier != "greedy") else None
        yield _chosen(VERIFIERS, llm.verifier, _refusal(llm, loaded, _verifier))
        if not drafts:
            return
        refused = _refusal(llm, loaded, _decoder)
        drafter = "drafter" in DECODERS.find(llm.decoder).needs
        command = f"predtui doctor --decoder {llm.decoder}{f' --drafter {llm.drafter}' * drafter}"
        remedy = "" if trying else f"Try it with the model: {command}"
        if drafter:
            yield _chosen(DECODERS, llm.decoder, "" if loaded else None)
            yield _chosen(DRAFTERS, llm.drafter, refused, remedy)
        else:
            yield _chosen(DECODERS, llm.decoder, refused, remedy)


def _chosen(registry: Registry, name: str, refused: PredtuiError | str | None, remedy: str = "") -> Finding:
    """``refused``: why it does not work; empty where it does, None where nobody knows."""
    entry = registry.find(name)
    if isinstance(refused, PredtuiError):
        return Finding(registry.kind, "broken", refused.message, refused.remedy, needed=True)
    *most, last = [NEEDS[need] for need in sorted(entry.needs)] or [""]
    needs = f"; needs {', '.join(most)}{' and ' * bool(most)}{last}" if last and refused is None else ""
    return Finding(registry.kind, "found", registry.line(name) + needs, remedy)


def _refusal(
    llm: LlmSettings, loaded: LoadedModel | None, make: Callable[[LlmSettings, LoadedModel], None]
) -> PredtuiError | str | None:
    """As ``_chosen`` takes it."""
    if loaded is None:
        return None
    try:
        make(llm, loaded)
    except PredtuiError as error:
        return error
    return ""


def _loaded(llm: LlmSettings, opened: ExitStack) -> LoadedModel | None:
    """None where it cannot be: another line says so."""
    from predtui.llm.load import load
    from predtui.llm.placement import Placement

    held = Placement.of(llm)
    try:
        loaded = load(llm.model, llm.engine, llm.threads or None, llm.context, weights=llm.weights, placement=held)
    except PredtuiError:
        return None
    opened.callback(loaded.model.close)
    return loaded


def _sampler(llm: LlmSettings) -> Sampler:
    from predtui.decoding.sampler import sampler

    return sampler(llm.temperature, llm.top_k, llm.top_p, llm.min_p, llm.seed)


def _verifier(llm: LlmSettings, loaded: LoadedModel) -> None:
    from predtui.predgen.verifiers import make_verifier

    make_verifier(llm.verifier, loaded, _sampler(llm))


def _decoder(llm: LlmSettings, loaded: LoadedModel) -> None:
    from predtui.decoding.assembly import assemble
    from predtui.predgen.options import SpeculationOptions

    options = replace(SpeculationOptions.of(llm).decoding, learnt="")  # what was learnt is left as it is
    assemble(options, loaded, _sampler(llm)).close()
