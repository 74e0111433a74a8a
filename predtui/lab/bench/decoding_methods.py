"""Ways to decode, by name, to be measured beside each other on the same models: one line each.

Must not know how they are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from predtui.clock import Clock, RealClock
from predtui.decoding.assembly import DecodingOptions, make_decoder
from predtui.decoding.base import DecodingStatistics, Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.iterations import Iteration
from predtui.decoding.duo import Duo, DuoOptions
from predtui.decoding.memory import Allowance
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.gguf import read_header
from predtui.llm.llamacpp.repacking import concerned, may_repack
from predtui.llm.llamacpp.threads import llama_threads
from predtui.llm.threads import default_threads
from predtui.registry import DECODERS, DRAFTERS

VANILLA = "vanilla"
DUO = "duo"
EVERY = "drafters"
"""Every drafter of the registry."""
Generate = Callable[[Sequence[int], int], Iterator[int]]
"""Prompt and limit to the tokens of a reply, its end token included."""


@dataclass(frozen=True, slots=True)
class MethodParts:
    """What methods are made of. ``budget``: the c that ablations of Duo are centred on; ``notify`` gets the iterations
    of Duo with the name of the method; ``folders`` hold target and draft for methods that load them themselves;
    ``clock``: the one on which the models' forwards take time; ``memory``: bytes that each may hold to draft with.
    ``heads``: the folder of trained heads."""

    target: LoadedModel
    draft: LoadedModel
    folders: tuple[Path, Path]
    sampler: Sampler
    store: Path | None
    budget: int
    notify: Callable[[str, Iteration], None]
    clock: Clock = field(default_factory=RealClock)
    memory: int | None = None
    heads: Path | None = None


@dataclass(frozen=True, slots=True)
class ReadyMethod:
    """A method ready to generate; ``statistics`` None where it keeps none, ``streams`` False where its tokens come all
    at once."""

    generate: Generate
    statistics: DecodingStatistics | None
    close: Callable[[], None] = lambda: None
    streams: bool = True


def _ours(decoder: str, drafter: str = "") -> Callable[[MethodParts, str], ReadyMethod]:
    def make(bench: MethodParts, name: str) -> ReadyMethod:
        if DECODERS[decoder].caches > 1:
            _only_real(bench, name)
        memory = Allowance(bench.memory)
        draft = _afforded(bench.draft, DecodingOptions(decoder, drafter), memory)
        instrument = Instrument(bench.clock)
        models = bench.target, bench.sampler, draft
        parts = Parts(*models, bench.store, bench.heads, None, memory, instrument)
        built = make_decoder(decoder, parts, drafter)
        is_end = bench.target.tokenizer.is_end
        return ReadyMethod(lambda prompt, limit: built.generate(prompt, limit, is_end), built.statistics, built.close)

    return make


def _afforded(draft: LoadedModel, options: DecodingOptions, memory: Allowance) -> LoadedModel | None:
    """``draft`` where it is used and fits. Raises PredtuiError where there has to be one, and it does not fit."""
    if "draft" in options.needs | options.takes:
        try:
            memory.fixed(f"The draft model {draft.name}", draft.footprint)
        except PredtuiError:
            if "draft" in options.needs:
                raise
            return None
    return draft


def _duo(sequences: int = 0, offset: int | None = None) -> Callable[[MethodParts, str], ReadyMethod]:
    """``offset``: the budget is the measured c and so many tokens; None: it is measured as decoding goes on."""

    def make(bench: MethodParts, name: str) -> ReadyMethod:
        _only_real(bench, name)
        options = DuoOptions(0 if offset is None else max(1, bench.budget + offset), sequences)
        built = Duo(
            bench.target.model,
            bench.draft.model,
            bench.sampler,
            Instrument(RealClock()),
            options,
            lambda iteration: bench.notify(name, iteration),
        )
        is_end = bench.target.tokenizer.is_end
        return ReadyMethod(lambda prompt, limit: built.generate(prompt, limit, is_end), built.statistics, built.close)

    return make


def _llamacpp_lookup(bench: MethodParts, name: str) -> ReadyMethod:
    """llama-cpp-python's own prompt lookup."""
    from llama_cpp import Llama
    from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

    _only_greedy(bench, name)
    _only_real(bench, name)
    file = bench.folders[0] / "model.gguf"
    if not file.is_file():
        raise PredtuiError(f"{bench.folders[0]} holds no model.gguf.", f"Leave {name} out of --methods.")
    threads = llama_threads(bench.target.parameters)
    weights = read_header(file).weights
    if concerned(weights) and not may_repack(file, weights, threads):
        raise PredtuiError(
            f"{name} always repacks weights, which the self-test advises against for {file} here.",
            f"Leave {name} out of --methods.",
        )
    model: Any = Llama(
        str(file),
        n_ctx=bench.target.model.context_size,
        n_threads=threads,
        n_threads_batch=threads,
        draft_model=LlamaPromptLookupDecoding(),
        logits_all=True,
        verbose=False,
    )

    def generate(prompt: Sequence[int], limit: int) -> Iterator[int]:
        model.reset()
        produced = model.generate(list(prompt), temp=0.0, top_k=1, repeat_penalty=1.0)
        for _, token in zip(range(limit), produced, strict=False):
            yield token
            if bench.target.tokenizer.is_end(token):
                return

    return ReadyMethod(generate, None, model.close)


def _assisted(bench: MethodParts, name: str) -> ReadyMethod:
    """transformers' own assisted generation, on the same models in the Hugging Face layout."""
    import torch

    from predtui.llm.torch.folder import load_network

    _only_greedy(bench, name)
    _only_real(bench, name)
    for folder in bench.folders:
        if not (folder / "config.json").is_file():
            raise PredtuiError(
                f"{folder} holds no model in the Hugging Face layout.", f"Leave {name} out of --methods."
            )
    torch.set_num_threads(default_threads(bench.target.parameters))
    models = [load_network(folder, "cpu", torch.float32) for folder in bench.folders]

    def generate(prompt: Sequence[int], limit: int) -> Iterator[int]:
        ids = torch.tensor([list(prompt)])
        out = models[0].generate(
            ids, attention_mask=torch.ones_like(ids), assistant_model=models[1], do_sample=False, max_new_tokens=limit
        )
        yield from out[0, len(prompt) :].tolist()

    return ReadyMethod(generate, None, streams=False)


def _only_greedy(bench: MethodParts, name: str) -> None:
    if not isinstance(bench.sampler, Greedy):
        raise PredtuiError(f"{name} is compared greedily only.", "Leave it out of --methods, or the temperature at 0.")


def _only_real(bench: MethodParts, name: str) -> None:
    """Of what works on two processors at once, or on a model of its own, no clock but the real one knows."""
    if not isinstance(bench.clock, RealClock):
        raise PredtuiError(f"{name} is timed on the real clock only.", "Leave it out of --methods, or --clock real.")


METHODS: dict[str, Callable[[MethodParts, str], ReadyMethod]] = {
    VANILLA: _ours("ar"),
    **{name: _ours(name, DecodingOptions().drafter) for name in DECODERS},
    **{name: _ours("speculative", name) for name in DRAFTERS},
    "pld": _ours("speculative", "lookup"),
    DUO: _duo(),
    "transformers": _assisted,
    "llama-cpp-python": _llamacpp_lookup,
}
"""Decoders and drafters by their own names, decoders with the usual drafter, drafters in speculative decoding; and, as
the paper calls them, plain decoding and prompt lookup."""
STATIC = {f"{DUO}-{count}": _duo(sequences=count) for count in (1, 2, 3)}
"""Table 2 of DuoDecoding: sequences that are as many whatever the draft doubts."""
BUDGETS = {f"{DUO}-c{offset:+d}": _duo(sequences=1, offset=offset) for offset in (-2, -1, 0, 1, 2)}
"""Table 3: budgets around c, one sequence."""


def chosen(names: str, ablations: bool) -> dict[str, Callable[[MethodParts, str], ReadyMethod]]:
    """The methods of a comma-separated list, vanilla first, since all are compared with it; with Duo's ablations where
    it is among them and they are wanted. Raises PredtuiError for a name that is not known."""
    named = [name.strip() for name in names.split(",") if name.strip()]
    wanted = [one for name in named for one in (DRAFTERS if name == EVERY else [name])]
    known = {**METHODS, **STATIC, **BUDGETS}
    for name in wanted:
        if name not in known:
            raise PredtuiError(f"There is no method {name!r}.", f"Choose of {', '.join(known)}.")
    added = [*STATIC, *BUDGETS] if ablations and DUO in wanted else []
    return {name: known[name] for name in dict.fromkeys([VANILLA, *wanted, *added])}
