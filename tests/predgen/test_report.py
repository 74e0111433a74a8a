"""What a decoder has done is reported once."""

from __future__ import annotations

from predtui.decoding.autoregressive import Autoregressive
from predtui.decoding.base import DecodingStatistics
from predtui.decoding.costs.spans import DRAFT, TARGET
from predtui.decoding.sampler import Greedy
from predtui.llm.scripted import ScriptedModel
from predtui.predgen.report import DecoderReport
from predtui.state.events import Decoding, Work


def test_drafts_are_reported_when_there_are_new_ones_and_work_to_its_end() -> None:
    decoder = Autoregressive(ScriptedModel(1), Greedy())
    decoder.statistics = statistics = DecodingStatistics()
    report = DecoderReport("speculative + lookup", decoder)
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
