"""A corpus to retrieve drafts from (REST, He et al. 2024): its tokens, and where each run of tokens was followed.

The order is a suffix array of the corpus read backwards: places are sorted by the tokens *before* them, so that the
longest match of a context's end is one descent, token by token. Two memory-mapped arrays and a line of JSON in a
folder. Must not know how drafts are verified, or where the corpus came from.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from predtui.errors import PredtuiError
from predtui.files import read_json
from predtui.llm.base import LoadedModel
from predtui.llm.spelling import spelled
from predtui.models.published import SMOLLM2
from predtui.models.shipped import MODELS
from predtui.settings import state_folder

GAP = -1
"""Stands after each document, in place of a token: no match and no continuation goes across it."""
DEPTH = 16
"""Tokens before a place by which places are sorted; a longer match is as good as one of this length."""
_LOOKED_AT = 1 << 16
"""Neighbours whose order is checked when a datastore is opened."""

Tokens = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Datastore:
    """``tokens`` [n] of the documents, a ``GAP`` after each; ``places`` [n] are the indices 1..n in the order of the
    tokens before them, nearest first; ``vocabulary``: whose tokens they are (``fingerprint``)."""

    tokens: Tokens
    places: Tokens
    vocabulary: str

    def longest_match(self, context: Sequence[int], least: int = 1) -> tuple[int, Tokens]:
        """How many tokens of the context's end occur in the corpus in one run (at most ``DEPTH``) at least ``least``
        times, and the indices [m] of the tokens after those occurrences."""
        tokens, places = self.tokens.data, self.places.data  # single items of arrays are slow to come by
        low, high, length = 0, len(places), 0
        for token in reversed(context[-DEPTH:]):

            def before(place: int, back: int = length + 1) -> int:
                return int(tokens[place - back]) if place >= back else GAP

            left = bisect_left(places, token, low, high, key=before)
            right = bisect_right(places, token, left, high, key=before)
            if right - left < least:
                break
            low, high, length = left, right, length + 1
        return length, self.places[low:high] if length else self.places[:0]

    def following(self, places: Tokens, depth: int) -> Tokens:
        """The tokens [m, depth] from each of ``places`` on; ``GAP`` from the end of their document on."""
        indices = places[:, None] + np.arange(depth)
        inside = indices < len(self.tokens)
        rows = np.where(inside, self.tokens[np.minimum(indices, len(self.tokens) - 1)], GAP)
        rows[np.logical_or.accumulate(rows == GAP, axis=1)] = GAP
        return rows.astype(np.int32)


def build(documents: Iterable[Sequence[int]], vocabulary: str) -> Datastore:
    """The datastore of these documents (tokens each). Raises PredtuiError where there is no token among them."""
    tokens = np.array([token for document in documents if document for token in (*document, GAP)], np.int32)
    if not tokens.size:
        raise PredtuiError("The corpus is empty.", "Name files with text in them.")
    order = _suffix_order(tokens[::-1])
    return Datastore(tokens, (len(tokens) - order).astype(np.int32), vocabulary)


def _suffix_order(tokens: Tokens) -> npt.NDArray[np.int64]:
    """Indices of the suffixes of ``tokens`` in the order of their first ``DEPTH`` tokens, by prefix doubling (Manber
    and Myers 1990)."""
    rank = np.unique(tokens, return_inverse=True)[1].astype(np.int64) + 1
    order = np.argsort(rank, kind="stable")
    length = 1
    while length < DEPTH:
        after = np.zeros_like(rank)
        after[:-length] = rank[length:]
        keys = rank * (len(rank) + 1) + after
        order = np.argsort(keys, kind="stable")
        rank[order] = np.cumsum(np.diff(keys[order], prepend=keys[order[0]]) > 0) + 1
        length *= 2
    return order


def write(store: Datastore, folder: Path) -> None:
    """The datastore as ``tokens.npy``, ``places.npy`` and ``datastore.json`` in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "tokens.npy", store.tokens, allow_pickle=False)
    np.save(folder / "places.npy", store.places, allow_pickle=False)
    about = {"vocabulary": store.vocabulary, "tokens": len(store.tokens)}
    (folder / "datastore.json").write_text(json.dumps(about) + "\n", encoding="utf-8")


def load(folder: Path, target: LoadedModel) -> Datastore:
    """The datastore in ``folder``, memory-mapped. Raises PredtuiError where there is none, where it is damaged, and
    where its tokens are not those of ``target``."""
    remedy = _remedy(folder, target.name)
    if not (folder / "datastore.json").is_file():
        raise PredtuiError(f"There is no datastore in {folder}.", remedy)
    try:
        about = read_json(folder / "datastore.json")
        tokens, places = (np.load(folder / f"{name}.npy", "r", allow_pickle=False) for name in ("tokens", "places"))
        vocabulary = about["vocabulary"]
        whole = tokens.dtype == places.dtype == np.int32 and tokens.shape == places.shape == (about["tokens"],)
    except Exception as error:  # numpy reads a header as a Python literal, which fails in any way
        raise PredtuiError(f"The datastore in {folder} cannot be read: {error}.", remedy) from error
    if not whole:
        raise PredtuiError(f"The datastore in {folder} is damaged: its arrays do not fit each other.", remedy)
    if vocabulary != fingerprint(target):
        raise PredtuiError(f"The datastore in {folder} has the tokens of another model than {target.name}.", remedy)
    store = Datastore(tokens, places, vocabulary)
    if not _sound(store, target.model.vocab_size):
        raise PredtuiError(f"The datastore in {folder} is damaged: its values make no sense.", remedy)
    return store


def _sound(store: Datastore, vocabulary: int) -> bool:
    """Whether all values are within range, and the order holds where it is looked at. A wrong place elsewhere costs a
    draft, never a reply: what is drafted is verified."""
    tokens, places = store.tokens, store.places
    if not tokens.size or tokens.min() < GAP or tokens.max() >= vocabulary:
        return False
    if places.min() < 1 or places.max() > len(tokens):
        return False
    looked = np.unique(np.linspace(0, max(0, len(places) - 2), _LOOKED_AT).astype(np.int64))
    before, after = places[looked].astype(np.int64), places[np.minimum(looked + 1, len(places) - 1)].astype(np.int64)
    equal = np.ones(len(looked), bool)
    for back in range(1, DEPTH + 1):
        one, other = (np.where(at >= back, tokens[np.maximum(at - back, 0)], GAP) for at in (before, after))
        if (equal & (one > other)).any():
            return False
        equal &= (one == other) & (one != GAP)
    return True


def fingerprint(target: LoadedModel) -> str:
    """Tells one vocabulary from another: a digest of the text of every token."""
    pieces = [spelled(target.tokenizer, token) for token in range(target.model.vocab_size)]
    return hashlib.sha256("\0".join(pieces).encode("utf-8", "replace")).hexdigest()[:16]


def _remedy(folder: Path, model: str) -> str:
    """The command that makes one; a model that does not ship may be called by its path alone, which is not known
    here."""
    out = "" if folder == default_folder() else f" --out {folder}"
    return f"Make one with: predtui train rest --model {model if model in (*MODELS, SMOLLM2.name) else 'MODEL'}{out}"


def default_folder() -> Path:
    """Where ``predtui train rest`` writes, and the drafter reads, where nothing else is said."""
    return state_folder() / "datastore"
