"""Every exchangeable idea by name: one line each. Settings, command line, screen, doctor and benches read these lists.

A new verifier, decoder, drafter or engine is one file that holds it, and one line here. Factories are names, imported
when one is made, so that a list costs nothing to read. Must not import anything of predtui but its errors.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from predtui.errors import PredtuiError

Form = Literal["gguf", "folder"]
"""Of a model's weights: one GGUF file, or a folder with config.json."""


@dataclass(frozen=True, slots=True)
class Entry:
    """``name``: as settings have it; an "N" at its end stands for a number, as in "topN". ``factory``:
    "module:function". ``help``: one line for a person. ``needs``: what it cannot do without, in words of ``NEEDS``;
    assembly refuses it where that is missing. ``lossless``: whether the reply is always plain decoding's.
    ``check``: "module:function" that tells in a line what is here of what its settings name, and raises PredtuiError
    where something is missing; for doctor. ``prepare``: "module:function" that waits, in steps, for what has to be
    there before it is made. ``package``: the distribution without which there is none of it; for doctor.
    ``reads``: the forms of weights that an engine of language models takes. ``caches``: how many a decoder opens over
    its draft model. ``voices``: "module:function" that lists the voices a synthesiser has here, of its settings.
    ``internal``: whether it is for tests and benches alone, and no setting offers it."""

    name: str
    factory: str
    help: str
    needs: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    """What it uses where that is there, and does without elsewhere; in words of ``NEEDS``."""
    lossless: bool = True
    same_distribution: bool = False
    """Of one that is not lossless: whether a greedy reply is plain decoding's, and others have its distribution."""
    usual: int = 0
    """What stands for N where only the idea is asked for; of every entry whose name ends with one."""
    check: str = ""
    prepare: str = ""
    package: str = ""
    reads: frozenset[Form] = frozenset()
    caches: int = 1
    voices: str = ""
    internal: bool = False

    @property
    def alters(self) -> bool:
        """Whether a greedy reply may be another, and others of another distribution: what the screen calls lossy."""
        return not self.lossless and not self.same_distribution

    @property
    def choice(self) -> str:
        """A name that one may choose it by: its own, or that with its usual number."""
        return f"{self.name.removesuffix('N')}{self.usual}" if self.usual else self.name

    def number(self, name: str) -> int | None:
        """What stands for N where ``name`` is meant by this entry, 0 where it takes no number; None where it is not
        meant."""
        if not self.usual:
            return 0 if name == self.name else None
        found = re.fullmatch(re.escape(self.name.removesuffix("N")) + r"([1-9]\d*)", name)
        return int(found[1]) if found else None


NEEDS = {
    "drafter": "a drafter",
    "draft": "a draft model",
    "datastore": "a datastore",
    "trees": "an engine that evaluates token trees",
    "rows": "an engine that tells whole rows of logits",
    "given": "an engine that tells what it would say after each of the tokens it is given",
    "hidden": "an engine that tells hidden states",
    "layers": "an engine that can leave out layers",
    "soft": "an engine that evaluates soft tokens",
    "heads": "heads that were trained for the model",
    "windows": "an engine that opens another cache over a model's weights",
    "window": "a Whisper that hears 30 s at once",
    "idle": "idle time to learn in",
}
"""What an entry may need, as a person reads it."""


class Registry(Mapping[str, Entry]):
    """Entries by name, in the order in which a person should meet them."""

    def __init__(self, kind: str, *entries: Entry) -> None:
        """``kind``: what they are, as in "There is no ``kind`` 'x'."."""
        self.kind = kind
        self._entries = {entry.name: entry for entry in entries}

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, name: str) -> Entry:
        """The entry that ``name`` means, a number in it or not. Raises PredtuiError with the nearest names."""
        for entry in self._entries.values():
            if entry.number(name) is not None:
                return entry
        choices = [self[offered].choice for offered in self.offered()]
        near = difflib.get_close_matches(name, choices, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Choose one of {', '.join(choices)}."
        raise PredtuiError(f"There is no {self.kind} {name!r}.", hint)

    def line(self, name: str) -> str:
        """``name`` and the help of the entry that it means; whether that is lossless, where some entries are not.
        Raises PredtuiError."""
        return self._line(name, self.find(name))

    def lines(self) -> list[str]:
        """A line for each entry that settings offer."""
        return [self._line(name, self[name]) for name in self.offered()]

    def _line(self, name: str, entry: Entry) -> str:
        mixed = not all(entry.lossless for entry in self.values())
        mark = (", lossless" if entry.lossless else ", not lossless") if mixed else ""
        return f"{name}{mark}: {entry.help}"

    def factory(self, name: str) -> Callable[..., Any]:
        """What makes the one that ``name`` means. Raises PredtuiError."""
        return _imported(self.find(name).factory)

    def check(self, name: str) -> Callable[..., str] | None:
        """What checks the one that ``name`` means; None where there is nothing to check. Raises PredtuiError."""
        entry = self.find(name)
        return _imported(entry.check) if entry.check else None

    def prepare(self, name: str) -> Callable[..., Iterator[Any]] | None:
        """What prepares the one that ``name`` means; None where there is nothing to prepare. Raises PredtuiError."""
        entry = self.find(name)
        return _imported(entry.prepare) if entry.prepare else None

    def voices(self, name: str) -> Callable[[Any], list[str]] | None:
        """What lists the voices of the one that ``name`` means; None where nothing does. Raises PredtuiError."""
        entry = self.find(name)
        return _imported(entry.voices) if entry.voices else None

    def offered(self) -> tuple[str, ...]:
        """The names that settings offer."""
        return tuple(entry.name for entry in self.values() if not entry.internal)


def _imported(path: str) -> Callable[..., Any]:
    """The function at "module:function"."""
    module, _, function = path.partition(":")
    return cast(Callable[..., Any], getattr(importlib.import_module(module), function))


LLM_ENGINES = Registry(
    "engine",
    Entry(
        "llamacpp",
        "predtui.llm.llamacpp.engine:load",
        "reads GGUF files",
        check="predtui.llm.llamacpp.engine:describe",
        prepare="predtui.llm.llamacpp.engine:prepare",
        reads=frozenset({"gguf"}),
    ),
    Entry(
        "torch",
        "predtui.llm.torch.engine:load",
        "reads folders",
        check="predtui.llm.torch.engine:describe",
        prepare="predtui.llm.torch.engine:prepare",
        reads=frozenset({"folder"}),
    ),
    Entry(
        "numpy",
        "predtui.llm.numpy.folder:load",
        "reads folders of small Llama networks",
        check="predtui.llm.numpy.folder:describe",
        reads=frozenset({"folder"}),
    ),
    Entry(
        "remote",
        "predtui.llm.remote.engine:load",
        "asks a server (--url): llama-server, vLLM, SGLang, or any with OpenAI's chat completions",
        check="predtui.llm.remote.engine:describe",
        prepare="predtui.llm.remote.engine:prepare",
    ),
    Entry("scripted", "predtui.llm.scripted:load", "has no weights, and babbles", internal=True),
)
"""What runs language models: of a ``llm.base.ModelRequest``, factories make a ``llm.base.LoadedModel``; checks take the
model's name; ``prepare`` takes the request and yields pairs of a line and how far it has come."""


SERVERS = Registry(
    "kind of server",
    Entry(
        "llama-server",
        "predtui.llm.remote.dialects.llama_server:meet",
        "llama.cpp's own: tokens in and out, and a prompt cache; candidates are verified by generating again",
    ),
    Entry(
        "sglang",
        "predtui.llm.remote.dialects.sglang:meet",
        "tokens in and out; a candidate is verified in one request, out of the prompt cache",
    ),
    Entry(
        "vllm",
        "predtui.llm.remote.dialects.vllm:meet",
        "tokens in and out; a candidate is verified in one request, for which its prompt cache is of no use",
    ),
    Entry(
        "openai",
        "predtui.llm.remote.dialects.openai:meet",
        "any other with OpenAI's chat completions: messages in, text out",
    ),
)
"""Kinds of servers that the engine "remote" knows, in the order in which a server is asked whether it is one: of a
``llm.remote.client.Link``, factories make a ``llm.remote.base.TokenServer`` or ``ChatServer``, or None where it is
another kind; the last takes every server, or raises PredtuiError."""

VERIFIERS = Registry(
    "verifier",
    Entry("greedy", "predtui.predgen.verifiers:greedy", "keeps a token that the model itself would have chosen"),
    Entry(
        "topN",
        "predtui.predgen.verifiers:top",
        "keeps a token that is among the model's N likeliest",
        lossless=False,
        usual=3,
    ),
    Entry(
        "reflection",
        "predtui.predgen.reflection:Reflection",
        "asks the model whether its first sentence still fits",
        lossless=False,
    ),
)
"""Rules that accept tokens of a candidate for a new prompt: of (loaded model, sampler, number), factories make a
``decoding.accept.Acceptance``, which may be a ``predgen.verifiers.Judge`` too."""

DECODERS = Registry(
    "decoder",
    Entry("ar", "predtui.decoding.autoregressive:make", "one forward, one token"),
    Entry(
        "speculative",
        "predtui.decoding.speculative:make",
        "keeps the drafted tokens that the model itself chooses: with a seed and a temperature, too, the reply is the "
        "one ar gives",
        frozenset({"drafter", "given"}),
    ),
    Entry(
        "duo",
        "predtui.decoding.duo:make",
        "DuoDecoding: drafts several sequences in one thread while the model verifies in another",
        frozenset({"draft", "given"}),
        caches=2,
    ),
    Entry(
        "pearl",
        "predtui.decoding.pearl:make",
        "PEARL: a draft goes on in one thread while the model verifies what there is of it in another",
        frozenset({"draft", "given"}),
        caches=2,
    ),
    Entry(
        "sps",
        "predtui.decoding.speculative:make_sampling",
        "speculative sampling: at a temperature another reply, of exactly the same distribution; greedy, the same",
        frozenset({"drafter", "given"}),
        lossless=False,
        same_distribution=True,
    ),
    Entry(
        "typical",
        "predtui.decoding.lossy:make_typical",
        "keeps drafted tokens that the model finds likely enough, the more of them the less sure it is (Medusa)",
        frozenset({"drafter", "given", "rows"}),
        lossless=False,
    ),
    Entry(
        "judge",
        "predtui.decoding.lossy:make_judge",
        "keeps drafted tokens that a trained head (--heads, by default the model's own) holds for right",
        frozenset({"drafter", "given", "hidden", "heads"}),
        lossless=False,
    ),
    Entry(
        "lookahead",
        "predtui.decoding.lookahead:make",
        "drafts the n-grams that its own forwards brought up before",
        frozenset({"trees", "given"}),
    ),
    Entry(
        "jacobi",
        "predtui.decoding.jacobi:make",
        "chooses a block of guessed tokens anew, all at once, until it no longer changes",
        frozenset({"given"}),
    ),
    Entry(
        "sjd",
        "predtui.decoding.sjd:make",
        "jacobi that keeps guesses by chance: at a temperature another reply, of exactly the same distribution; "
        "greedy, the same",
        frozenset({"given"}),
        lossless=False,
        same_distribution=True,
    ),
)
"""Ways to get tokens out of a model: of ``decoding.parts.Parts``, factories make a ``decoding.base.Decoder``."""

DRAFTERS = Registry(
    "drafter",
    Entry(
        "auto",
        "predtui.decoding.drafters.auto:make",
        "whichever of the others pays, learnt while it runs; never far behind none",
        takes=frozenset({"draft"}),
    ),
    Entry(
        "model",
        "predtui.decoding.drafters.model:make",
        "what a smaller model says (--draft, by default the pocket draft); one with another tokenizer is bridged by "
        "text",
        frozenset({"draft"}),
    ),
    Entry(
        "osd",
        "predtui.decoding.drafters.osd:make",
        "what a smaller model says, bettered by what it learns of your model's replies in idle time (--learn)",
        frozenset({"draft", "idle"}),
    ),
    Entry(
        "dyspec",
        "predtui.decoding.drafters.dyspec:make",
        "a tree that grows where a smaller model is surest",
        frozenset({"draft"}),
    ),
    Entry(
        "rsd",
        "predtui.decoding.drafters.rsd:make",
        "a tree of what a smaller model may say, drawn without replacement",
        frozenset({"draft"}),
    ),
    Entry(
        "medusa",
        "predtui.decoding.drafters.medusa:make",
        "what trained heads (--heads, by default the model's own) tell of the next tokens from its hidden state",
        frozenset({"hidden", "heads"}),
    ),
    Entry(
        "hydra",
        "predtui.decoding.drafters.hydra:make",
        "what trained heads tell from its hidden state and the tokens drafted before",
        frozenset({"hidden", "heads"}),
    ),
    Entry(
        "eagle",
        "predtui.decoding.drafters.eagle:make",
        "a tree by a trained layer that foretells its hidden states, and from each the next token",
        frozenset({"hidden", "heads"}),
    ),
    Entry(
        "swift",
        "predtui.decoding.drafters.swift:make",
        "the model without the layers that it can do without, which it finds as it replies",
        frozenset({"layers"}),
    ),
    Entry(
        "del",
        "predtui.decoding.drafters.dynamic_exit:make",
        "its own first layers, as many of them, and as many tokens, as the context pays for",
        frozenset({"layers"}),
    ),
    Entry(
        "kangaroo",
        "predtui.decoding.drafters.kangaroo:make",
        "its own first layers, with a trained layer of attention behind them",
        frozenset({"hidden", "heads", "layers"}),
    ),
    Entry(
        "clover",
        "predtui.decoding.drafters.clover:make",
        "what a trained block makes of its hidden state, again after each drafted token, and attending to all of those",
        frozenset({"hidden", "heads"}),
    ),
    Entry(
        "falcon",
        "predtui.decoding.drafters.falcon:make",
        "blocks of two tokens, each block by one pass of trained layers",
        frozenset({"hidden", "heads"}),
    ),
    Entry(
        "chimera",
        "predtui.decoding.drafters.chimera:make",
        "what trained heads tell from its hidden state and all tokens of the context",
        frozenset({"hidden", "heads"}),
    ),
    Entry(
        "ppd",
        "predtui.decoding.drafters.ppd:make",
        "what it says itself after a few trained tokens, which no text has, behind its context and its drafts",
        frozenset({"trees", "soft", "heads"}),
    ),
    Entry(
        "hidden-transfer",
        "predtui.decoding.drafters.hidden_transfer:make",
        "what its last layers make of states that trained matrices foretell in a middle one",
        frozenset({"trees", "soft", "heads"}),
    ),
    Entry(
        "lookup",
        "predtui.decoding.drafters.lookup:make",
        "what followed the same words earlier in the prompt",
    ),
    Entry(
        "suffix",
        "predtui.decoding.drafters.suffix:make",
        "what followed the longest run of the same words in anything said since the start",
    ),
    Entry(
        "copyspec",
        "predtui.decoding.drafters.copyspec:make",
        "what followed the last three tokens when they last stood in this conversation",
    ),
    Entry(
        "recycling",
        "predtui.decoding.drafters.recycling:make",
        "a tree of what the model thought likely after each token before",
    ),
    Entry(
        "stand",
        "predtui.decoding.drafters.stand:make",
        "a tree of what the model thought likely after the same few tokens, drawn as it will draw at a temperature",
    ),
    Entry(
        "rest",
        "predtui.decoding.drafters.rest:make",
        "what followed the same words in a corpus, as far as that is likely",
        frozenset({"datastore"}),
    ),
    Entry(
        "cascade",
        "predtui.decoding.drafters.cascade:make",
        "what a smaller model and a corpus say together: the corpus drafts for the model, as that does for the target",
        frozenset({"draft", "datastore"}),
    ),
    Entry(
        "specmquant",
        "predtui.decoding.drafters.specmquant:make",
        "what a smaller model makes of a tree: one sequence, for a quantised target, to which trees are dear",
        frozenset({"draft"}),
    ),
    Entry(
        "rapid",
        "predtui.decoding.drafters.rapid:make",
        "what a draft model (--draft, the model itself too) says to the passages of a long prompt that matter",
        frozenset({"draft"}),
    ),
    Entry(
        "triforce",
        "predtui.decoding.drafters.triforce:make",
        "what the model itself says to the beginning and the latest words of a long context",
        frozenset({"windows"}),
    ),
    Entry(
        "rasd",
        "predtui.decoding.drafters.rasd:make",
        "one tree of what a smaller model says, and of what followed the same words in a corpus (where there is none, "
        "in this conversation) as far as that model finds it likely",
        frozenset({"draft", "trees"}),
    ),
    Entry(
        "fused",
        "predtui.decoding.drafters.fused:make",
        "suffix, and model where that knows nothing or leaves room",
        frozenset({"draft"}),
    ),
)
"""What speculative decoding drafts with: of ``decoding.parts.Parts``, factories make a ``decoding.base.Drafter``."""

RECOGNISERS = Registry(
    "recogniser",
    Entry(
        "auto",
        "predtui.asr.auto:create",
        "the best for asr.model; for the pocket Whisper, it or pocketsphinx, whichever hears you",
        check="predtui.asr.auto:check",
    ),
    Entry("pocketsphinx", "predtui.asr.pocketsphinx:create", "CMU Sphinx, in every install", package="pocketsphinx"),
    Entry(
        "faster-whisper",
        "predtui.asr.faster_whisper:create",
        "Whisper over windows of 30 s",
        frozenset({"window"}),
        check="predtui.asr.faster_whisper:check",
        package="faster-whisper",
    ),
    Entry(
        "whisperflow",
        "predtui.asr.whisperflow.load:create",
        "Whisper made to stream: hush word, beam pruning, pipelining",
        check="predtui.asr.whisperflow.load:check",
    ),
    Entry(
        "sherpa",
        "predtui.asr.sherpa:create",
        "streaming zipformers by sherpa-onnx: words sooner, no sound is heard twice",
        check="predtui.asr.sherpa:check",
        package="sherpa-onnx",
    ),
)
"""What turns sound into words: of ``AsrSettings``, factories make an ``asr.base.Recognizer``; checks take them too."""

SYNTHESISERS = Registry(
    "synthesiser",
    Entry(
        "espeak",
        "predtui.tts.espeak:create",
        "eSpeak NG, in every install",
        check="predtui.tts.espeak:check",
        voices="predtui.tts.espeak:voices",
    ),
    Entry(
        "kokoro",
        "predtui.tts.kokoro:create",
        "Kokoro, a natural voice on a CPU",
        check="predtui.tts.kokoro:check",
        voices="predtui.tts.kokoro:voices",
    ),
    Entry(
        "supertonic",
        "predtui.tts.supertonic:create",
        "Supertonic, very fast on a CPU; wants the extra supertonic",
        check="predtui.tts.supertonic:check",
        voices="predtui.tts.supertonic:voices",
        package="supertonic",
    ),
    Entry(
        "piper",
        "predtui.tts.piper:create",
        "Piper, small voices in many languages; wants the extra piper, which is GPL",
        check="predtui.tts.piper:check",
        voices="predtui.tts.piper:voices",
        package="piper-tts",
    ),
    Entry("zonos", "predtui.tts.zonos.engine:create", "Zonos, a neural voice", check="predtui.tts.zonos.engine:check"),
    Entry("none", "predtui.tts.mute:create", "replies are read, not heard"),
)
"""What turns text into sound: of ``TtsSettings``, factories make a ``tts.base.Synthesizer``; checks take them too."""
