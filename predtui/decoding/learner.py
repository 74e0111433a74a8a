"""A draft that learns while nothing else is to be done: replies are noted as they come, and studied piece by piece.

Each piece takes a few milliseconds: a few tokens of a reply that the draft reads again, or one step of its adapter.
What was read is learnt from, the latest and some of all before it. Whether a draft is made with what was learnt or
without, it tells for each token: by which of the two is surer, as long as what was learnt is not behind. Must not know
how drafts are made, or of what is said on a screen.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from predtui.decoding import learnt
from predtui.decoding.draft import Verification
from predtui.decoding.heads import Array
from predtui.decoding.lead import Lead
from predtui.decoding.online import NEVER, Adapter, Places, chances, joined, places
from predtui.decoding.recall import Recall
from predtui.llm.base import LanguageModel, Preempted, Stale, common_prefix, never
from predtui.llm.rows import ArrayRow, Row, Rows

PIECE = 8
"""Tokens that the draft reads at once."""
BATCH = 64
PLACES_A_STEP = 3
"""A step for so many places that were read."""
REPLIES = 2
"""Replies that wait to be studied; of more, the latest."""
LATEST, OLDER = 1024, 1024
"""Places kept in memory."""
LAST = 64
"""Pieces that are still done at the end: about what a reply takes."""
SURE = 0.98
"""Where the draft thinks a token as likely as this, the adapter is not asked: it would have to be surer still."""
KEEP_EVERY = 16
"""Replies after which what was learnt is kept in its file."""
_log = logging.getLogger("predtui.learner")


class Learner:
    """For one thread. ``notes``: lines for a person, to be taken away."""

    def __init__(self, model: LanguageModel, file: learnt.File | None = None) -> None:
        """``model``: the draft. ``file``: where what is learnt is kept; None: nowhere."""
        self._model, self._file = model, file
        self.adapter = Adapter(model.abilities.hidden)
        self.lead = Lead()
        """Of the adapter, in tokens of the target that it foretold."""
        self.notes: list[str] = []
        self.studied = 0
        """Replies so far, those of earlier runs among them."""
        self._unkept, self._told = 0, False
        self._read_by_draft: list[int] = []
        self._disputed: list[tuple[int, int, int]] = []
        """Places in that where the adapter, surer than the draft, says another token; the draft's token, its own."""
        self._replies: deque[tuple[int, list[int]]] = deque(maxlen=REPLIES)
        """Where a reply begins, and all tokens up to its end."""
        self._study: Iterator[None] | None = None
        self._latest: deque[Places] = deque()
        self._older: list[Places] = []
        self._random, self._seen = np.random.default_rng(0), 0
        if file:
            self._load(file)

    # --- drafting ----------------------------------------------------------------------------------------------------

    def adapted(self, recall: Recall, context: Sequence[int], path: Sequence[int], rows: Rows) -> Row:
        """The last of the draft's ``rows``, after ``context``, which ``recall`` has read, and ``path``."""
        self._read_by_draft = [*context, *path]
        if not path:
            self._disputed.clear()
        row = rows[-1]
        if not self.studied or row.logprob(row.argmax()) > math.log(SURE):
            return row
        tail = [*context[-3:], *path][-3:]
        seen = places(rows.logits[-1:], self._hidden(rows)[-1:], [tail], [recall.after(path)], [-1])
        moved = self.adapter.moved(seen)
        bare, adapted = np.exp(seen.base[0, :-1]), chances(seen, moved)[0, :-1]
        if adapted.max() < bare.max():
            return row
        tokens, there = seen.tokens[0], seen.base[0, :-1] > NEVER
        first, second = int(tokens[bare.argmax()]), int(tokens[adapted.argmax()])
        if first != second:
            self._disputed.append((len(self._read_by_draft), first, second))
        if self.lead.behind:
            return row
        logits = row.logits.copy()
        logits[tokens[there]] += moved[0, there]
        return ArrayRow(logits)

    def heard(self, verification: Verification) -> None:
        """The target has said something: its own choices, where the rule is lossless."""
        if not verification.lossless or not verification.tokens:
            return
        context = [*verification.context]
        self._compare(len(context), [*context, *verification.tokens])
        if self._replies and self._replies[-1][1] == context:
            self._replies[-1][1].extend(verification.tokens)
        else:
            self._replies.append((len(context), [*context, *verification.tokens]))

    def _compare(self, start: int, said: Sequence[int]) -> None:
        """Who was right of the draft and the adapter, at the places from ``start`` on that both knew all before of."""
        known = common_prefix(self._read_by_draft, said)
        for place, bare, adapted in self._disputed:
            if start <= place <= known and place < len(said):
                self.lead.count(said[place] == adapted, said[place] == bare)
        self._disputed.clear()

    # --- learning ----------------------------------------------------------------------------------------------------

    def learn(self, stale: Stale) -> bool:
        """A piece of work, unless it is ``stale``; whether any is left."""
        if stale():
            return self.pending
        if self._study is None and self._replies:
            self._study = self._studied(*self._replies.popleft())
        try:
            next(self._study or iter(()))
        except (StopIteration, Preempted):  # what is left of a reply that was pre-empted is not read
            self._study = None
        return self.pending

    @property
    def pending(self) -> bool:
        return self._study is not None or bool(self._replies)

    def close(self) -> None:
        """Keep what was learnt, and what there is to learn of the last reply."""
        if self._unkept:
            self._keep()
        for _ in range(LAST):
            if not self.learn(never):
                break
        if self._unkept:
            self._keep()

    def _studied(self, start: int, tokens: list[int]) -> Iterator[None]:
        if len(tokens) > self._model.context_size:
            return
        fresh = 0
        for end, last in self._pieces(start, len(tokens), tokens):
            rows = self._model.forward(tokens[:end], last)
            self._read_by_draft, self._disputed = tokens[:end], []
            if end >= start:
                fresh += self._take(tokens, end, last, rows)
            yield
        if not fresh:
            return
        for step in range(-(-fresh // PLACES_A_STEP)):
            self.adapter.step(self._batch(step))
            yield
        self.studied, self._unkept = self.studied + 1, self._unkept + 1
        if self._unkept >= KEEP_EVERY:
            yield
            self._keep()

    def _pieces(self, start: int, end: int, tokens: list[int]) -> Iterator[tuple[int, int]]:
        """How far the draft reads, and for how many tokens of that its rows are wanted: what comes before the reply,
        as far as the draft may have forgotten it, and the reply up to its last token."""
        known = min(common_prefix(self._read_by_draft, tokens), start - 1)
        for stop in range(known + PIECE, start - 1 + PIECE, PIECE):
            yield min(stop, start - 1), 1
        for begin in range(start, end, PIECE):
            yield min(begin + PIECE, end) - 1, min(PIECE, end - begin)

    def _take(self, tokens: list[int], end: int, last: int, rows: Rows) -> int:
        """Note the places of which the draft has told ``rows``; how many are to be learnt from."""
        recall, ends = Recall(), range(end - last + 1, end + 1)
        recalled = []
        for one in ends:
            recall.read(tokens[:one])
            recalled.append(recall.after(()))
        tails, answers = [tokens[max(0, one - 3) : one] for one in ends], [tokens[one] for one in ends]
        found = places(rows.logits, self._hidden(rows), tails, recalled, answers)
        found = found.at(found.answers >= 0)
        for index in range(len(found)):
            self._note(found.at(slice(index, index + 1)))
        return len(found)

    def _note(self, place: Places) -> None:
        self._seen += 1
        self._latest.append(place)
        if len(self._latest) <= LATEST:
            return
        old = self._latest.popleft()
        if len(self._older) < OLDER:
            self._older.append(old)
        elif (slot := int(self._random.integers(self._seen))) < OLDER:
            self._older[slot] = old

    def _batch(self, step: int) -> Places:
        """The latest and others by turns."""
        known, latest = len(self._older) + len(self._latest), len(self._latest)
        few = min(latest, 4 * BATCH) if step % 2 else known
        chosen = known - 1 - self._random.integers(few, size=BATCH)
        return joined([self._at(int(index)) for index in chosen])

    def _at(self, index: int) -> Places:
        return self._older[index] if index < len(self._older) else self._latest[index - len(self._older)]

    def _hidden(self, rows: Rows) -> Array:
        return np.zeros((len(rows), 0), np.float32) if rows.hidden is None else rows.hidden

    # --- keeping -----------------------------------------------------------------------------------------------------

    def _load(self, file: learnt.File) -> None:
        try:
            self.studied = file.load(self.adapter)
        except learnt.DamagedError as error:
            self.notes.append(str(error))

    def _keep(self) -> None:
        if not self._file:
            return
        try:
            self._file.save(self.adapter, self.studied)
            self._unkept = 0
        except OSError as error:
            _log.warning("%s cannot be written: %s", self._file.path, error)
            if not self._told:
                self.notes.append(f"What the draft has learnt cannot be kept in {self._file.path}: {error.strerror}.")
            self._told = True
