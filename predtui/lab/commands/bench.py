"""``predtui bench``: one line for each benchmark. Its module, with its options, is imported only when it runs."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from predtui.commands.with_settings import Commands
from predtui.lab.commands.packages import missing
from predtui.registry import Entry, Registry

BENCHES = Registry(
    "benchmark",
    *(
        Entry(name, f"predtui.lab.bench.{module}:cli", meaning)
        for name, module, meaning in (
            ("pocket", "pocket", "The pocket models on held-out questions: how many replies and judgements are right."),
            (
                "endpoint",
                "endpoint",
                "When hands-free turns end: turns cut off in a pause against the delay at their end.",
            ),
            ("words", "words", "What a word costs after a long conversation: forwards, tokens, milliseconds."),
            ("lossless", "lossless", "Does speculation commit exactly what plain greedy decoding gives?"),
            ("latency", "latency", "Audio latency with and without speculation, typed and spoken, on the real clock."),
            ("startup", "startup", "Time to the first frame and until ready, and the peak memory of each process."),
            ("screen", "screen", "How soon a key is seen, and what the screen takes of the CPU and the memory."),
            ("jacobi", "jacobi", "Tokens per forward of Jacobi decoding, by model and block size."),
            ("predgen", "predgen", "PredGen's tables and figures: methods side by side on the same input and model."),
            ("fuzz", "fuzz", "Random revisions and interruptions: is the committed reply plain decoding's?"),
            ("fuzz-typing", "fuzz_typing", "Random keys on the screen: are all transcripts and prompts right?"),
            (
                "simulate",
                "simulation",
                "Is speculation ever slower? Simulated input, on machines of 0.3 to 500 ms per forward.",
            ),
            (
                "chaos",
                "chaos",
                "Random faults over the app in use: is every prompt answered right, or refused?",
            ),
            (
                "learning",
                "learning",
                "What a draft wins by learning from one user's turns, and what others lose by it.",
            ),
            ("fuzz-decoding", "fuzz_decoding", "Random drafts: is the reply plain decoding's, the KV cache right?"),
            ("distribution", "distribution", "A million draws: is a sampled reply out of the target's distribution?"),
            (
                "decoding",
                "decoding",
                "DuoDecoding's tables and figures: decoders side by side on the same models.",
            ),
            (
                "survey",
                "survey",
                "Every drafter beside every other: what it drafts, costs and brings, and its training.",
            ),
            ("asr", "asr", "WhisperFlow's tables and figures: ways to stream the same Whisper, side by side."),
            ("noise", "wordless", "Silence, noises, music, a babble of voices: which recogniser hears words in them?"),
            ("retrieval", "retrieval", "Notes looked up while somebody speaks, or after: what holds, what it saves."),
            ("remote", "remote", "PredGen over requests: what it brings and what it costs real servers."),
            ("hybrid", "hybrid", "A draft here for a model behind a network: streamed or drafted, by the way there."),
            ("tts", "tts", "Every voice that is here: time to its first sound, real-time factor, memory."),
            ("zonos", "zonos", "What Zonos costs on this machine: ms per frame, time to the first chunk, memory."),
            (
                "record",
                "recording",
                "Record what the recogniser hears of spoken prompts, as streams for bench predgen.",
            ),
        )
    ),
)
"""A benchmark is a module with a function ``cli``, and one line here."""

bench = Commands(
    help="Measure, and regenerate the tables. Rows are printed as they come; Ctrl-C or SIGTERM keeps what there is. "
    "Where no model is named, the shipped ones are measured.",
    no_args_is_help=True,
)


class _Later(TyperCommand):
    """Stands for a benchmark in the list; what runs is the command of its module."""

    def make_context(self, info_name: str | None, args: list[str], *given: Any, **more: Any) -> Any:
        return command(str(self.name)).make_context(info_name, args, *given, **more)


def command(name: str) -> Any:
    """The command of benchmark ``name``, with its options: its module is imported. Raises PredtuiError where a package
    is missing."""
    try:
        function = BENCHES.factory(name)
    except ModuleNotFoundError as error:
        raise missing(f"bench {name}", error.name or "") from error
    single = Commands(add_completion=False)
    single.command(name, help=BENCHES[name].help)(function)
    return get_command(single)


for _entry in BENCHES.values():
    typer.Typer.command(bench, _entry.name, cls=_Later, help=_entry.help, short_help=_entry.help)(lambda: None)
