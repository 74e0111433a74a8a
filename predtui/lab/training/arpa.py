"""A trigram language model in the ARPA format, out of sentences: what pocketsphinx searches with. Knows no corpus.

Witten-Bell smoothing (Witten and Bell, 1991): after a history h, followed by T(h) different words in N(h) places,
    p(w | h) = (count(h w) + T(h) · p(w | shorter h)) / (N(h) + T(h)),
which is already the form an ARPA file wants: the weight of backing off from h is T(h) / (N(h) + T(h)).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

BEGIN, END = "<s>", "</s>"
ORDER = 3

Gram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Backoff:
    """Base-10 logarithms: ``grams[n-1]`` of the n-grams, ``weights`` of backing off from a history."""

    grams: tuple[dict[Gram, float], ...]
    weights: dict[Gram, float]

    def log10(self, word: str, history: Gram = ()) -> float:
        """Of ``word`` after ``history`` (at most two words count). Raises KeyError for a word that it does not know."""
        gram = (*history[-(ORDER - 1) :], word)
        if gram in self.grams[len(gram) - 1]:
            return self.grams[len(gram) - 1][gram]
        if len(gram) == 1:
            raise KeyError(word)
        return self.weights.get(gram[:-1], 0.0) + self.log10(word, gram[1:-1])

    def arpa(self) -> str:
        """The model as the text of an ARPA file."""
        lines = ["\\data\\", *(f"ngram {n}={len(grams)}" for n, grams in enumerate(self.grams, 1))]
        for n, grams in enumerate(self.grams, 1):
            lines += ["", f"\\{n}-grams:"]
            for gram in sorted(grams):
                weight = f"\t{self.weights[gram]:.4f}" if gram in self.weights else ""
                lines.append(f"{grams[gram]:.4f}\t{' '.join(gram)}{weight}")
        return "\n".join([*lines, "", "\\end\\", ""])


def estimate(sentences: Iterable[list[str]], general: Mapping[str, float], cutoff: int = 1) -> Backoff:
    """The model of ``sentences`` (lists of words). ``general`` gives every word of the vocabulary, ``</s>`` included,
    its probability where nothing is known (they sum to 1). Trigrams seen fewer than ``cutoff`` times are left to the
    backoff, and so is their share.

    Raises ValueError for a word that is not in ``general``, and where there are no sentences.
    """
    counts = _counts(sentences)
    if not counts[0]:
        raise ValueError("a language model needs at least one sentence")
    if unknown := next((word for (word,) in counts[0] if word not in general), None):
        raise ValueError(f"the word {unknown!r} is not in the general vocabulary")
    model = Backoff(tuple({} for _ in range(ORDER)), {})
    for n, table in enumerate(counts):
        totals = _totals(table)
        kept = {gram: count for gram, count in table.items() if n < ORDER - 1 or count >= cutoff}
        left = {history: float(total) for history, total in totals.items()}
        for gram, count in kept.items():
            left[gram[:-1]] -= count
        if n == 0:
            kept = {(word,): table[(word,)] for word in general}
        for gram, count in kept.items():
            shorter = 10.0 ** model.log10(gram[-1], gram[1:-1]) if n else general[gram[-1]]
            model.grams[n][gram] = math.log10((count + left[gram[:-1]] * shorter) / totals[gram[:-1]])
        if n:
            model.weights.update({history: math.log10(left[history] / totals[history]) for history in left})
    model.grams[0][(BEGIN,)] = -99.0
    return model


def _counts(sentences: Iterable[list[str]]) -> tuple[Counter[Gram], ...]:
    """How often each n-gram occurs, n = 1, 2, 3; the beginning of a sentence is a history, never a word."""
    counts: tuple[Counter[Gram], ...] = tuple(Counter() for _ in range(ORDER))
    for sentence in sentences:
        words = (BEGIN, *sentence, END)
        counts[0].update((word,) for word in words[1:])
        for n in range(2, ORDER + 1):
            counts[n - 1].update(words[i : i + n] for i in range(len(words) - n + 1))
    return counts


def _totals(counts: Counter[Gram]) -> dict[Gram, int]:
    """History → N(h) + T(h)."""
    totals: defaultdict[Gram, int] = defaultdict(int)
    for gram, count in counts.items():
        totals[gram[:-1]] += count + 1
    return totals
