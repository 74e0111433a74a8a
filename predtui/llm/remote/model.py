"""A model behind a network: requests for rows, and for many tokens at a time. A reply that breaks off goes on in
another request, for as long as the server may be waited for.

Must not know of any particular server, or of text.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from predtui.llm.base import Counters, check_request, check_vocabulary
from predtui.llm.remote.base import TokenServer, Told, abilities_of
from predtui.llm.remote.client import Link
from predtui.llm.remote.failures import ServerError
from predtui.llm.rows import RowList, Unanswered


class RemoteModel:
    """A ``GeneratingModel``. The server remembers prompts, if it does; nothing of a prompt is remembered here."""

    def __init__(self, server: TokenServer, link: Link, context: int, learn: Callable[[Told], bool]) -> None:
        """``context``: the most tokens of a request. ``learn``: told each generated token, and says whether it is known
        now if that ends a reply."""
        self.counters = Counters()
        self.vocab_size, self.context_size = server.about.vocabulary, context
        self.abilities = abilities_of(server)
        self._server, self._link, self._learn = server, link, learn
        self.waiting = link.waiting

    def forward(self, tokens: Sequence[int], last: int = 1) -> RowList:
        self._check(tokens, last)
        if last > 1 and not self._server.scores:
            raise Unanswered("the server tells nothing of the tokens of a prompt")
        self.counters.forwards += 1
        rows = self._server.rows(tokens, last)
        self.counters.tokens += len(tokens)
        return RowList(rows)

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        """As ``GeneratingModel`` says. Ends early where the server ends a reply that the model has not ended."""
        self._check(tokens, 1)
        context, left = list(tokens), limit
        since, attempt = self._link.clock.now(), 0
        while left > 0:
            try:
                with closing(self._request(context, left)) as arriving:
                    for told in arriving:
                        if not self._learn(told) and left == 1:
                            self._ask_of_last(context)
                        context.append(told.token)
                        left, since, attempt = left - 1, self._link.clock.now(), 0
                        yield told.token
                return
            except ServerError as error:
                attempt += 1
                self._link.wait(error, since, attempt)

    def forget(self, keep: int = 0) -> None:
        """Nothing is remembered here."""

    def close(self) -> None:
        self._server.close()

    def _ask_of_last(self, context: Sequence[int]) -> None:
        """Learn whether the token after ``context``, which has no text, ends the reply: a server that was asked for no
        more than that may say only that the reply is as long as it may be."""
        if len(context) + 2 <= self.context_size:
            with closing(self._request(context, 2)) as arriving:
                for told in arriving:
                    self._learn(told)

    def _request(self, tokens: Sequence[int], limit: int) -> Generator[Told, None, None]:
        """One, counted with all that it brought. It is cancelled where it is closed before its last token."""
        counters, unread, over = self.counters, self._server.unread, False
        counters.forwards += 1
        try:
            with closing(self._server.generate(tokens, limit)) as arriving:
                for number, told in enumerate(arriving, 1):
                    self._count(1)
                    over = told.end or number == limit
                    yield told
            over = True
        except ServerError:
            over = True
            raise
        finally:
            if not over:
                self._count(self._server.unread - unread)
                counters.cancelled += 1

    def _count(self, tokens: int) -> None:
        self.counters.generated += tokens
        self.counters.tokens += tokens

    def _check(self, tokens: Sequence[int], last: int) -> None:
        check_request(tokens, last, self.context_size)
        check_vocabulary(tokens, self.vocab_size)
