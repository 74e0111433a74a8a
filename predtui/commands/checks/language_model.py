"""The language model, what runs it, and whether that is exact and fast here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from predtui.commands.checks.finding import Finding, package_finding
from predtui.errors import PredtuiError
from predtui.llm.default import REMOTE
from predtui.models.published import REAL, find, how, megabytes, missing
from predtui.settings import Settings

if TYPE_CHECKING:
    from predtui.llm.base import LanguageModel


def language_model(settings: Settings) -> Iterator[Finding]:
    """The engine and the model that it is to load."""
    if settings.llm.engine == "llamacpp":
        yield llama_cpp(settings)
    from predtui.llm.load import inspect

    try:
        yield Finding("language model", "found", inspect(settings.llm.model, settings.llm.engine), needed=True)
    except PredtuiError as error:
        yield Finding("language model", "broken", error.message, error.remedy, needed=True)


def server(settings: Settings) -> Iterator[Finding]:
    """What the remote engine's server offers, by a few requests of some tokens."""
    from predtui.llm.remote.engine import offered

    llm = settings.llm
    if llm.engine != REMOTE:
        return
    told = False
    try:
        for subject, line in offered(llm.model, llm.thinking, llm.thought_tokens):
            told = True
            yield Finding(subject, "found", line)
    except PredtuiError as error:
        if told:  # or a line above has said so
            yield Finding("server", "broken", error.message, error.remedy)


def threads(settings: Settings) -> Iterator[Finding]:
    """How many threads a forward of llama.cpp takes, and whether its build keeps it from taking more."""
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


def repacking(settings: Settings, testing: bool) -> Iterator[Finding]:
    """Whether llama.cpp may repack the model's weights, and how that is known."""
    from predtui.llm.gguf import read_header
    from predtui.llm.llamacpp import repacking
    from predtui.llm.llamacpp.engine import file_of
    from predtui.llm.llamacpp.threads import llama_threads

    if settings.llm.engine != "llamacpp":
        return
    try:
        path = file_of(settings.llm.model)
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


def abilities(settings: Settings) -> Iterator[Finding]:
    """What the model can, once it is loaded; whether its logits depend on how many tokens are evaluated at once, and
    what it costs that they do not; what it costs to go back, where that is not free."""
    from predtui.llm.load import load
    from predtui.llm.placement import Placement

    llm = settings.llm
    try:
        held = Placement.of(llm)
        model = load(llm.model, llm.engine, llm.threads or None, llm.context, weights=llm.weights, placement=held).model
    except PredtuiError:
        return  # a line above has said so
    yield Finding("abilities", "found", str(model.abilities))
    if not model.abilities.generates:  # of others these are the server's
        yield from _exactness(model)
    if isinstance(model.abilities.rollback, int):
        from predtui.llm.llamacpp.states import LlamaStateModel

        assert isinstance(model, LlamaStateModel)
        yield Finding("cache", "found", model.going_back)
    model.close()


def _exactness(model: LanguageModel) -> Iterator[Finding]:
    from predtui.llm.llamacpp.exactness import UNPADDED, cost, exactness_of

    exactness = exactness_of(model)
    detail = str(exactness)
    if exactness.padding != UNPADDED:
        padded, alone = cost(model, exactness.padding)
        detail += f"; plain decoding takes {padded:.1f} ms per token, {alone:.1f} ms if it need not be exact"
    yield Finding("exactness", "found", detail)


def llama_cpp(settings: Settings) -> Finding:
    """Whether it is there; if not, whether numpy can stand in for it."""
    from predtui.llm.llamacpp import compile as build
    from predtui.llm.llamacpp.engine import stands_in

    if build.available():
        return package_finding("llama.cpp", "llama-cpp-python", "llama_cpp", needed=True)
    why, numpy = str(build.current() or "not installed"), stands_in(settings.llm.model)
    return Finding("llama.cpp", "missing", f"{why}{'; numpy answers' if numpy else ''}", build.REMEDY, not numpy)


def real_models(settings: Settings) -> Iterator[Finding]:
    """Whether they are installed, and whether these settings use them."""
    if absent := missing():
        detail = f"not installed: {', '.join(model.name for model in absent)}"
        remedy = f"To hear people and talk about anything ({megabytes(absent)} MB): {how()}"
        yield Finding("real models", "missing", detail, remedy)
    for model in REAL:
        if model not in absent:
            detail = f"{model.name}, {model.licence}, {find(model)}"
            used = model.name in (settings.llm.model, settings.asr.model)
            yield Finding("real models", "found", detail if used else f"{detail}, not used with these settings")


def torch(settings: Settings) -> Iterator[Finding]:
    """Needed only where the settings name its engine."""
    needed = settings.llm.engine == "torch"
    wants = "The torch engine needs it" if needed else "Only the torch engine and training need it"
    yield package_finding("torch", "torch", "torch", f"{wants}: pip install 'predtui[torch]'", needed)
