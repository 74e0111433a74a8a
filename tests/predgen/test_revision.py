"""What a revision commits while its reply grows, by the sentence and by the clause; what its decoder reports, once."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.autoregressive import Autoregressive
from predtui.decoding.base import DecodingStatistics
from predtui.decoding.costs.spans import DRAFT, TARGET
from predtui.decoding.sampler import Greedy
from predtui.llm.scripted import CharacterTokenizer, ScriptedModel
from predtui.predgen.algorithm import Progress
from predtui.predgen.revision import DecoderReport, Revision
from predtui.state.events import Decoding, ReplyCommitted, SentenceAhead, Work
from predtui.text import first_clause, first_sentence


class Letters:
    """A token is a letter, and 0 the end."""

    def encode(self, text: str, special: bool = False) -> list[int]:
        return [*map(ord, text)]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(chr(token) for token in tokens if token)

    def is_end(self, token: int) -> bool:
        return token == 0


replies = st.text(alphabet="aB ,;-.?1", max_size=60)


def grown(text: str, clause: bool, final: bool) -> list[tuple[int, str]]:
    """(letters known, text) of what is committed, or where nothing is yet, synthesised ahead."""
    revision = Revision("why", Letters(), "greedy", lambda: 0.0, lambda: 0, lambda: 0, final=final, clause=clause)
    tokens, told = (*map(ord, text), 0), []
    for count in range(1, len(tokens) + 1):
        progress = Progress((), tokens[:count], (), ended=count == len(tokens), lossless=True)
        for event in revision.emit(progress):
            if isinstance(event, ReplyCommitted | SentenceAhead):
                told.append((count, event.text))
    return told


@given(replies)
def test_by_clause_the_same_is_said_and_begun_no_later(text: str) -> None:
    by_sentence, by_clause = grown(text, clause=False, final=True), grown(text, clause=True, final=True)
    assert "".join(piece for _, piece in by_clause) == "".join(piece for _, piece in by_sentence)
    assert by_clause[:1] <= by_sentence[:1]
    assert by_clause[2:] == by_sentence[len(by_sentence) - len(by_clause) + 2 :]
    said = ""
    for count, piece in by_clause:
        said += piece
        assert text[:count].lstrip().startswith(said), "nothing that is not known is committed"


@given(replies)
def test_what_is_synthesised_ahead_is_what_is_committed_first(text: str) -> None:
    for clause, first in ((False, first_sentence), (True, first_clause)):
        ahead = [piece for _, piece in grown(text, clause, final=False)]
        committed = [piece.strip() for _, piece in grown(text, clause, final=True)]
        assert ahead[:1] == committed[:1]
        assert len(ahead) <= 1
        assert (ahead or [None])[0] == first(text, complete=True)


def test_drafts_are_reported_when_there_are_new_ones_and_work_to_its_end() -> None:
    decoder = Autoregressive(ScriptedModel(1), Greedy())
    decoder.statistics = statistics = DecodingStatistics()
    report = DecoderReport("speculative + lookup", decoder, CharacterTokenizer().decode)
    assert [*report.events(over=True)] == []
    statistics.count(proposed=4, accepted=3, tokens=4)
    statistics.work.worked(DRAFT, 0.0, 0.5)
    statistics.work.worked(TARGET, 0.5, 1.0)
    events = [*report.events(), *report.events(over=True)]
    (drafts,) = (event for event in events if isinstance(event, Decoding))
    assert (drafts.decoder, drafts.proposed, drafts.accepted) == ("speculative + lookup", 4, 3)
    assert (drafts.acceptance_rate, drafts.tokens_per_forward, drafts.note) == (0.75, 4.0, "")
    work = [(event.stage, event.start, event.end) for event in events if isinstance(event, Work)]
    assert work == [("draft", 0.0, 0.5), ("target", 0.5, 1.0)]
    assert [*report.events(over=True)] == []
    statistics.note = "drafting is off"
    (only,) = report.events()
    assert isinstance(only, Decoding)
    assert only.note == "drafting is off"
