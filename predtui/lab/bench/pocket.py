"""The shipped pocket models against the corpus's own oracle, on combinations and wordings that training never showed.

What is measured is what ships: the GGUF files, one prompt at a time, greedy. The model cards are made of this
module's JSON. Must not know how the models were trained.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy
from predtui.lab.bench.report import console, machine
from predtui.lab.bench.watch import Watch
from predtui.lab.commands.options import Json, MaxTokens, Seed
from predtui.lab.training.corpus import compose, oracle
from predtui.lab.training.corpus.text import cut
from predtui.lab.training.corpus.types import Example, Split
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.models.shipped import asset
from predtui.state.events import Message

REPLY_TOKENS = 160
JUDGED_LATER = "judgements right in a conversation"
LENGTHS = (4, 8, 16)
"""Earlier turns of a conversation: the groups that replies in conversations are counted in end here."""
WRONG_AN_INTENT = 5
DRAWS_A_PROMPT = 60
"""Held-out dialogues drawn for each prompt that is wanted of a group, so that rare groups fill up too."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where examples come from: the corpus, or a stand-in for it."""

    heldout: Callable[[Split, int, int], list[Example]] = compose.heldout
    conversations: Callable[[int, int], list[Example]] = compose.conversations
    judgements: Callable[[int, int], list[Example]] = compose.judgements
    judgements_in_conversations: Callable[[int, int], list[Example]] = compose.judgements_in_conversations
    right: Callable[[Example, str], bool] = oracle.right
    group: Callable[[str], str] = compose.group


@dataclass(slots=True)
class Score:
    """Shares of right answers by (measure, split, group), and the wrong ones, a few of each intent."""

    counts: dict[tuple[str, str, str], Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    wrong: list[dict[str, str]] = field(default_factory=list)

    def add(self, measure: str, split: str, groups: Iterable[str], right: bool) -> None:
        """Count one answer in each of ``groups``."""
        for group in groups:
            self.counts[measure, split, group][right] += 1

    def keep_wrong(self, measure: str, example: Example, reply: str) -> None:
        """Remember a wrong reply unless the intent has enough of them."""
        label = {"measure": measure, "split": example.split, "intent": example.intent}
        if sum(label.items() <= known.items() for known in self.wrong) < WRONG_AN_INTENT:
            said = " / ".join(message.content for message in example.messages[:-1])
            self.wrong.append({**label, "said": said, "expected": oracle.expected(example), "reply": reply})

    def rows(self) -> list[dict[str, Any]]:
        """One row a count: measures as they first appeared, ``all`` after its groups."""
        first = list(dict.fromkeys(key[:2] for key in self.counts))
        order = sorted(self.counts, key=lambda key: (first.index(key[:2]), key[2] == "all", key[2]))
        return [_row(*key, _percent(self.counts[key]), "%", self.counts[key].total()) for key in order]


@dataclass(slots=True)
class Speaker:
    """A loaded model that replies greedily, and the time and tokens it took."""

    loaded: LoadedModel
    limit: int = REPLY_TOKENS
    """Tokens of a reply."""
    seconds: float = 0.0
    tokens: int = 0

    def reply(self, messages: Sequence[Message]) -> tuple[list[int], list[int], str]:
        """The prompt's tokens, the reply's (its end token included), and the reply's text."""
        prompt = self.loaded.prompt_tokens(messages)
        tokenizer = self.loaded.tokenizer
        begun = time.perf_counter()
        tokens = list(generate(self.loaded.model, prompt, Greedy(), self.limit, tokenizer.is_end))
        self.seconds += time.perf_counter() - begun
        self.tokens += len(tokens)
        return prompt, tokens, tokenizer.decode(tokens)


def run(
    model_dir: Path,
    draft_dir: Path,
    limit: int,
    seed: int,
    threads: int = 2,
    source: Source | None = None,
    max_tokens: int = REPLY_TOKENS,
    watch: Watch[Example] | None = None,
) -> dict[str, Any]:
    """Measure both models with ``limit`` prompts a group, or as far as ``watch`` gathers them. The result is ready for
    JSON; ``rows`` are the table."""
    target, draft = (
        Speaker(load(str(folder / "model.gguf"), threads=threads), max_tokens) for folder in (model_dir, draft_dir)
    )
    score = Score()
    agreement: Counter[bool] = Counter()
    work = _work(target, draft, limit, seed, source or Source(), score, agreement)
    if watch:
        watch.total = len(work)
    (watch or list)(_done(work))
    rows = score.rows()
    rows.append(_row("tokens that the draft foretells", "both", "all", _percent(agreement), "%", agreement.total()))
    for name, speaker in (("target", target), ("draft", draft)):
        speed = round(speaker.tokens / max(speaker.seconds, 1e-9))
        rows.append(_row("speed, prompt included", "both", name, speed, "tokens/s", speaker.tokens))
    return {
        "command": f"python -m predtui.lab.bench.pocket --limit {limit} --seed {seed} --threads {threads}",
        "machine": machine(threads),
        "models": {name: s.loaded.parameters for name, s in (("target", target), ("draft", draft))},
        "rows": rows,
        "wrong": score.wrong,
    }


def _work(
    target: Speaker, draft: Speaker, limit: int, seed: int, source: Source, score: Score, agreement: Counter[bool]
) -> list[tuple[Callable[[Example], None], Example]]:
    """What is to be done with each example: it counts it in ``score``, and its tokens that the draft foretells or not
    in ``agreement``."""

    def reply(example: Example) -> None:
        agreement.update(_replies(target, draft, example, source, score))

    def later_reply(example: Example) -> None:
        right = source.right(example, target.reply(example.messages[:-1])[2])
        score.add("replies right in a conversation", example.split, (_length(example), "all"), right)

    def judge(example: Example) -> None:
        _judge(target.loaded, example, score)

    def later_judge(example: Example) -> None:
        right = _judged(target.loaded, example) == oracle.expected(example)
        score.add(JUDGED_LATER, example.split, (_length(example), "all"), right)

    def broken_off(example: Example) -> None:
        _truncated_reply(target, example, source, score)

    splits: tuple[Split, ...] = ("slots", "frames")
    return [
        *((reply, example) for split in splits for example in _balanced(source, split, limit, seed)),
        *((later_reply, example) for example in source.conversations(3 * limit, seed)),
        *((judge, example) for example in source.judgements(5 * limit, seed)),
        *((later_judge, example) for example in source.judgements_in_conversations(3 * limit, seed)),
        *((broken_off, one) for one in _truncated(_balanced(source, "slots", max(1, limit // 4), seed + 1), seed)),
    ]


def _done(work: Iterable[tuple[Callable[[Example], None], Example]]) -> Iterator[Example]:
    for count, example in work:
        count(example)
        yield example


def _balanced(source: Source, split: Split, limit: int, seed: int) -> list[Example]:
    """The first ``limit`` held-out dialogues of each group, fewer where a group has fewer."""
    taken: Counter[str] = Counter()
    chosen = []
    for example in source.heldout(split, limit * DRAWS_A_PROMPT, seed):
        group = source.group(example.intent)
        if taken[group] < limit:
            taken[group] += 1
            chosen.append(example)
    return chosen


def _replies(target: Speaker, draft: Speaker, example: Example, source: Source, score: Score) -> Counter[bool]:
    """Judge the replies of both models, and count which of the target's tokens the draft would have proposed."""
    groups = (source.group(example.intent), "all")
    messages = example.messages[:-1]
    prompt, tokens, text = target.reply(messages)
    right = source.right(example, text)
    score.add("replies right", example.split, groups, right)
    if not right:
        score.keep_wrong("replies right", example, text)
    score.add("replies right, draft", example.split, groups[1:], source.right(example, draft.reply(messages)[2]))
    if not tokens:
        return Counter()
    foretold = draft.loaded.model.forward([*prompt, *tokens[:-1]], last=len(tokens)).logits.argmax(-1)
    return Counter((foretold == np.array(tokens)).tolist())


def _length(example: Example) -> str:
    """The group of a conversation: how many turns it has before its last one, which in a judgement is asked about."""
    turns = len(example.messages) // 2 - (2 if example.kind == "judge" else 1)
    return next((f"after at most {most} turns" for most in LENGTHS if turns <= most), "after more turns")


def _judged(loaded: LoadedModel, example: Example) -> str:
    """The label that the model holds for the likelier one."""
    logits = loaded.model.forward(loaded.prompt_tokens(example.messages[:-1])).logits[-1]
    yes, no = (logits[loaded.tokenizer.encode(label)[0]] for label in ("yes", "no"))
    return "yes" if yes > no else "no"


def _judge(loaded: LoadedModel, example: Example, score: Score) -> None:
    expected, said = oracle.expected(example), _judged(loaded, example)
    score.add("judgements right", example.split, (f"answer {expected}", "all"), said == expected)
    if said != expected:
        score.keep_wrong("judgements right", example, said)


def _truncated(examples: Iterable[Example], seed: int) -> list[Example]:
    """The same dialogues with the last prompt broken off after a random number of words, at least one, not all."""
    rng = random.Random(f"truncated {seed}")
    broken = []
    for example in examples:
        *before, prompt, reply = example.messages
        words = len(prompt.content.split())
        if words > 1:
            shorter = replace(prompt, content=cut(prompt.content, rng.randrange(1, words)))
            broken.append(replace(example, messages=(*before, shorter, reply), kind="truncated"))
    return broken


def _truncated_reply(target: Speaker, example: Example, source: Source, score: Score) -> None:
    _, tokens, text = target.reply(example.messages[:-1])
    ended = bool(tokens) and target.loaded.tokenizer.is_end(tokens[-1])
    whole = ended and text.strip()[-1:] in {".", "!", "?"}
    score.add("broken-off prompts: complete sentences", example.split, ("all",), whole)
    score.add("broken-off prompts: the meant reply", example.split, ("all",), source.right(example, text))


def _row(measure: str, split: str, group: str, value: float, unit: str, of: int) -> dict[str, Any]:
    return {"measure": measure, "split": split, "group": group, "value": value, "unit": unit, "of": of}


def _percent(counts: Counter[bool]) -> float:
    return round(100 * counts[True] / max(1, counts.total()), 1)


def table(result: dict[str, Any]) -> Table:
    """The rows for a terminal."""
    drawn = Table("measure", "split", "group", "value", "of", title="pocket models", caption=result["machine"])
    for row in result["rows"]:
        style = "bold" if row["group"] == "all" else ""
        value = f"{row['value']} {row['unit']}"
        drawn.add_row(row["measure"], row["split"], row["group"], value, str(row["of"]), style=style)
    return drawn


def main(
    limit: int = 100,
    seed: int = 1,
    json_path: Path | None = None,
    models: Path | None = None,
    threads: int = 2,
    save: bool = False,
    max_tokens: int = REPLY_TOKENS,
) -> int:
    """Measure, print the table, write the JSON to ``json_path``; the exit status. ``models`` holds ``target`` and
    ``draft``; None: the shipped ones. ``save`` puts the rows beside them and writes their cards anew."""
    models = models or asset("pocket")
    watch = Watch[Example](0, "prompts")
    result = run(models / "target", models / "draft", limit, seed, threads, max_tokens=max_tokens, watch=watch)
    console().print(table(result))
    if save and not watch.stopped:
        from predtui.lab.training.pocket.card import write_cards

        figures = {name: value for name, value in result.items() if name != "wrong"}
        (models / "bench.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        write_cards(models)
    return watch.leave(result, json_path)


def cli(
    limit: Annotated[int, typer.Option(help="Prompts per group.", min=1)] = 100,
    seed: Seed = 1,
    max_tokens: MaxTokens = 160,
    json: Json = None,
) -> None:
    """``predtui bench pocket``."""
    raise typer.Exit(main(limit=limit, seed=seed, json_path=json, max_tokens=max_tokens))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m predtui.lab.bench.pocket", description=__doc__)
    parser.add_argument("--limit", type=int, default=100, help="prompts per group")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, dest="json_path")
    parser.add_argument("--models", type=Path, help="folder that holds target and draft")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save", action="store_true", help="write bench.json and the cards beside the models")
    sys.exit(main(**vars(parser.parse_args())))
