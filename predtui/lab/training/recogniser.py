"""The shipped language model of pocketsphinx: a trigram of how people ask the pocket model, and the words it needs.

    python -m predtui.lab.training.recogniser [--sentences 120000] [--seed 1] [--out assets/asr]

Writes ``pocket.arpa``, ``pocket.dict`` (pronunciations of words that the wheel's dictionary lacks) and a card. The
common words of the language at large stay possible: the model is smoothed towards the general one of the wheel.
"""

from __future__ import annotations

import argparse
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from predtui.lab.numerals import in_words
from predtui.lab.training import arpa
from predtui.lab.training.corpus import compose
from predtui.lab.training.pronounce import pronounce
from predtui.models.shipped import asset

GENERAL_WORDS = 5000
GENERAL_SHARE = 0.5
"""Of the smoothing, how much goes to the commonest words of the language at large."""
CUTOFF = 3
"""Trigrams seen more rarely are left out: they double the file."""
NAMED = 5
"""Dialogues that a word without a pronunciation must occur in to be a name, and not an invention."""

_SYMBOLS = {"+": " plus ", "*": " times ", "×": " times ", "÷": " divided by ", "=": " equals ", "%": " percent "}
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")


def spoken(text: str) -> list[str]:
    """The words of ``text`` as they are said: lower case, numbers in words, no accents, no punctuation."""
    text = in_words(text.lower())
    for symbol, words in _SYMBOLS.items():
        text = text.replace(symbol, words)
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return _WORD.findall(plain)


def dialogues(count: int, seed: int) -> Iterator[tuple[list[list[str]], set[str]]]:
    """Of each drawn dialogue: what was asked, and the words of the answers: all names, and no typing error."""
    rng = random.Random(seed)
    for _ in range(count):
        example = compose.sample(rng)
        if example.kind == "reply":
            asked = [spoken(message.content) for message in example.messages if message.role == "user"]
            answered = [
                word for message in example.messages if message.role != "user" for word in spoken(message.content)
            ]
            yield asked, {*answered, *(word for value in example.slots.values() for word in spoken(value))}


def lexicon(words: set[str], known: set[str]) -> dict[str, str]:
    """Pronunciations of those ``words`` that are not ``known``."""
    return {word: pronounce(word) for word in sorted(words - known)}


def dictionary() -> set[str]:
    """The words that the wheel's dictionary can pronounce."""
    from pocketsphinx import get_model_path

    lines = Path(get_model_path("en-us"), "cmudict-en-us.dict").read_text(encoding="utf-8").splitlines()
    return {line.split(maxsplit=1)[0] for line in lines if _WORD.fullmatch(line.split(maxsplit=1)[0])}


def common(words: set[str], count: int) -> dict[str, float]:
    """The ``count`` commonest of ``words`` with their probabilities in the wheel's general model, which sum to 1."""
    from pocketsphinx import Config, LogMath, NGramModel, get_model_path

    logs = LogMath(1.0001)
    general = NGramModel(Config(lw=1.0, wip=1.0), logs, str(Path(get_model_path("en-us"), "en-us.lm.bin")))
    chances = {word: logs.exp(general.prob([word])) for word in sorted(words)}
    best = sorted(chances, key=lambda word: (-chances[word], word))[:count]
    total = sum(chances[word] for word in best)
    return {word: chances[word] / total for word in best}


def background(asked: set[str], general: dict[str, float], share: float) -> dict[str, float]:
    """What the trigram is smoothed towards: all words of the domain alike, and ``share`` of the general ones."""
    domain = asked | {arpa.END}
    mixed = Counter({word: (1.0 - share) / len(domain) for word in domain})
    mixed.update({word: share * chance for word, chance in general.items()})
    return dict(mixed)


def build(count: int, seed: int) -> tuple[arpa.Backoff, dict[str, str]]:
    """The model and the added pronunciations. Questions with a typing error or an invented name are left out."""
    known = dictionary()
    questions: list[list[str]] = []
    names: Counter[str] = Counter()
    for asked, answered in dialogues(count, seed):
        questions += asked
        names.update(answered)
    kept = [asked for asked in questions if all(word in known or names[word] >= NAMED for word in asked)]
    words = {word for question in kept for word in question}
    added = lexicon(words, known)
    general = common(known, GENERAL_WORDS)
    return arpa.estimate(kept, background(words, general, GENERAL_SHARE), CUTOFF), added


CARD = """# Language model of the embedded recogniser

A trigram (Witten-Bell) over {asked} words of how people ask the pocket model, out of {count} dialogues of its corpus
(seed {seed}), smoothed towards the {general} commonest words of pocketsphinx's general US-English model (BSD licence).
{added} words have pronunciations by eSpeak NG's rules (`pocket.dict`). n-grams: {sizes}.

    python -m predtui.lab.training.recogniser --sentences {count} --seed {seed}
"""


def main() -> None:
    """Writes the three files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=120_000, help="dialogues drawn from the corpus")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=asset("asr"))
    chosen = parser.parse_args()
    model, added = build(chosen.sentences, chosen.seed)
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "pocket.arpa").write_text(model.arpa(), encoding="ascii")
    (chosen.out / "pocket.dict").write_text("".join(f"{word} {sounds}\n" for word, sounds in added.items()), "ascii")
    sizes = ", ".join(f"{len(grams):,}" for grams in model.grams)
    card = CARD.format(
        asked=f"{len(model.grams[0]):,}",
        count=chosen.sentences,
        seed=chosen.seed,
        general=GENERAL_WORDS,
        added=len(added),
        sizes=sizes,
    )
    (chosen.out / "README.md").write_text(card, encoding="utf-8")


if __name__ == "__main__":
    main()
