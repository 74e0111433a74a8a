"""The parts of the screen that need no screen: the talk key, figures, chart."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from predtui.state import events as ev
from predtui.state.reducer import reduce
from predtui.state.turn import Span, Turn
from predtui.tui import chart, figures
from predtui.tui.launch import engine_of
from predtui.tui.pace import Pace
from predtui.tui.push_to_talk import PushToTalk
from predtui.tui.widgets.candidate import CandidatePane
from predtui.tui.widgets.latency import LatencyPane
from predtui.tui.widgets.stages import in_order
from predtui.tui.widgets.timeline import TimelinePane
from predtui.tui.widgets.utilisation import UtilisationPane
from tests.tui.scenes import answered, first_exchange, fold, speculating


class TestPushToTalk:
    def test_a_tap_starts_and_a_later_tap_stops(self) -> None:
        key = PushToTalk()
        assert key.press(0.0) is True
        assert key.poll(5.0) is None
        assert key.press(6.0) is False

    @pytest.mark.parametrize("delay", [0.25, 0.5, 0.66])
    def test_a_held_key_talks_until_its_repeats_stop(self, delay: float) -> None:
        key = PushToTalk()
        assert key.press(0.0) is True
        now = delay
        for _ in range(40):
            assert key.press(now) is None
            assert key.poll(now + 0.02) is None
            now += 0.033
        last = now - 0.033
        assert key.poll(last + 0.2) is None
        assert key.poll(last + 0.3) is False

    def test_a_stutter_of_the_terminal_does_not_let_go(self) -> None:
        key = PushToTalk()
        for now in (0.0, 0.4, 0.43, 0.46, 0.68):
            key.press(now)
            assert key.poll(now) is None
        assert key.talking

    def test_a_late_repeat_does_not_start_again(self) -> None:
        key = PushToTalk()
        for now in (0.0, 0.4, 0.43):
            key.press(now)
        assert key.poll(0.8) is False
        assert key.press(0.9) is None
        assert not key.talking

    def test_two_quick_taps_end_as_a_release(self) -> None:
        key = PushToTalk()
        key.press(0.0)
        key.press(0.2)
        assert key.poll(0.7) is None
        assert key.poll(0.81) is False

    @given(st.lists(st.floats(0.01, 3.0), max_size=30))
    def test_starts_and_stops_alternate(self, gaps: list[float]) -> None:
        key, now, changes = PushToTalk(), 0.0, []
        for gap in gaps:
            now += gap
            changes += [change for change in (key.poll(now), key.press(now)) if change is not None]
        assert all(change is (index % 2 == 0) for index, change in enumerate(changes))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0.0 ms"),
        (6.14, "6.1 ms"),
        (9.97, "10 ms"),
        (96.4, "96 ms"),
        (999.7, "1.00 s"),
        (1240, "1.24 s"),
    ],
)
def test_milliseconds_carry_their_unit(value: float | None, text: str) -> None:
    assert figures.milliseconds(value) == text


@given(st.text(alphabet="abc de", max_size=60), st.integers(0, 30))
def test_shortening_fits_and_cuts_between_words(text: str, width: int) -> None:
    short = figures.shorten(text, width)
    assert len(short) <= width or len(text) <= width
    if short.endswith("…") and " " in short[:-1].strip():
        assert set(short[:-1].split()) <= set(text.split())


@given(st.lists(st.text(alphabet="ab", min_size=1, max_size=12), max_size=9), st.integers(1, 30), st.integers(1, 4))
def test_rows_hold_whole_parts_within_the_width(words: list[str], width: int, height: int) -> None:
    lines = figures.rows([Content(word) for word in words], width, height)
    assert len(lines) <= height
    assert all(line.cell_length <= width for line in lines)
    assert all(word in words for line in lines for word in line.plain.split())


def test_sparkline_is_as_wide_as_asked_and_never_empty_at_zero() -> None:
    assert figures.sparkline([0.0, 50.0, 100.0, 250.0], 6) == "··▁▄██"
    assert len(figures.sparkline([], 5)) == 5


def test_a_bar_is_as_high_as_its_cell_is_busy() -> None:
    assert chart.bars([Span(0.0, 0.1), Span(0.2, 0.25)], 0.0, 4) == "█ ▄ "
    assert chart.bars([Span(0.0, 0.001)], 0.0, 1) == "▁"


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(0, 2)), max_size=20), st.floats(0, 10), st.integers(1, 80))
def test_busy_time_is_kept_within_the_window(pairs: list[tuple[float, float]], start: float, cells: int) -> None:
    spans = [Span(begin, begin + length) for begin, length in pairs]
    shares = chart.shares(spans, start, cells)
    assert len(shares) == cells
    assert all(0.0 <= share <= 1.0 for share in shares)
    end = start + cells * chart.CELL
    inside = sum(max(0.0, min(span.end, end) - max(span.start, start)) for span in spans)
    assert sum(shares) * chart.CELL <= inside + 1e-6


def test_the_axis_counts_seconds_and_scrolls_by_whole_cells() -> None:
    assert chart.axis(10.0, 10.0, 25) == "┴0 s──────┴1 s──────┴2 s─"
    start = chart.window(latest=14.0, origin=10.0, cells=25)
    assert start == pytest.approx(11.6)
    assert chart.axis(start, 10.0, 25).startswith("────┴2 s")
    assert chart.column_of(13.95, start, 25) == 23


def test_a_label_is_never_cut() -> None:
    for cells in range(1, 60):
        for piece in chart.axis(0.0, 0.0, cells).replace("┴", "─").split("─"):
            assert piece == "" or piece.endswith(" s")


def test_the_axis_before_the_first_turn_begins_with_the_first_bar() -> None:
    warming = [ev.Work(stage="llm", start=3112.0, end=3112.5), ev.Work(stage="tts", start=3113.0, end=3113.1)]
    pane = TimelinePane(fold(warming))
    lines = [line.plain for line in pane.draw(pane.values, 40, 5)]
    assert lines[1].startswith("llm   █████ ")
    assert lines[4].strip().startswith("┴0 s")


def test_the_timeline_shows_target_and_draft_where_the_model_drafts() -> None:
    spans = [ev.Work(turn=2, stage=lane, start=10.0, end=10.3) for lane in ("llm", "target", "draft")]
    pane = TimelinePane(fold([ev.TurnStarted(turn=2, time=10.0), *spans]))
    lines = [line.plain for line in pane.draw(pane.values, 40, 7)]
    assert [line.split()[0] for line in lines[:6]] == ["asr", "llm", "target", "draft", "tts", "audio"]
    assert lines[2:4] == ["target ███".ljust(40), "draft  ███".ljust(40)]


def test_the_candidate_pane_tells_how_drafts_fare_where_there_are_any() -> None:
    draft = ev.Decoding(turn=2, decoder="speculative + model", proposed=4, accepted=3, acceptance_rate=0.81)
    turn = fold([*speculating(), replace(draft, tokens_per_forward=3.4)])
    off = fold([*speculating(), replace(draft, note="drafting is off")])
    lines = [[line.plain for line in drawn(state)] for state in (fold(speculating()), turn, off)]
    assert not any("drafted" in line for line in lines[0])
    assert any("3/4 drafted, 81% · 3.4/forward" in line for line in lines[1])
    assert any("drafting is off" in line for line in lines[2])
    assert all(len(found) == 6 and "kept" in found[-1] for found in lines)


def drawn(turn: Turn) -> list[Content]:
    pane = CandidatePane(turn)
    return pane.draw(pane.read(turn), 70, 6)


def test_the_candidate_tells_how_many_ends_of_the_sentence_were_answered_ahead() -> None:
    continuation = ev.Continuation(turn=2, prompt="what is the sun", sentence="It is a star.")
    headings = []
    for state in (fold(speculating()), fold([*speculating(), continuation, continuation])):
        pane = CandidatePane(state)
        headings.append(pane.heading(pane.read(state)))
    assert headings[1] == (*headings[0], " · 2 ahead")
    assert reduce(fold([*speculating(), continuation]), ev.TurnStarted(turn=3)).continuations == ()


@given(st.none() | st.floats(0, 1e5), st.none() | st.floats(0, 1e5))
def test_a_latency_is_green_only_where_speculation_lost_no_time(first: float | None, without: float | None) -> None:
    measured = first is not None and without is not None
    assert (figures.gain(first, without) == "good") == (measured and first <= without)
    assert (figures.gain(first, without) == "bad") == (measured and first > without)


@pytest.mark.parametrize(("baseline_ms", "style"), [(64.0, "$success"), (0.5, "$error")])
def test_the_figures_on_screen_wear_what_speculation_gained(baseline_ms: float, style: str) -> None:
    quicker = [ev.Baseline(turn=2, revision=7, ttfs_ms=baseline_ms), ev.BaselineSpeech(turn=2, revision=7, ms=0.5)]
    timeline, latency = TimelinePane(fold([*answered(), *quicker])), LatencyPane(fold([*answered(), *quicker]))
    assert ("21 ms", style) in timeline.heading(timeline.values)
    bar = latency.draw(latency.values, 60, 9)[0].spans[-1].style
    assert bar == {"$success": ".good", "$error": ".bad"}[style]


@pytest.mark.parametrize(
    ("parts", "height", "shown"),
    [
        (["encode", "write"], 7, ["asr", "encode", "write", "llm", "tts", "audio"]),
        (["target", "draft"], 6, ["asr", "target", "draft", "tts", "audio"]),
        (["encode", "write", "target", "draft"], 7, ["encode", "write", "target", "draft", "tts", "audio"]),
        (["encode", "write", "target", "draft"], 6, ["asr", "target", "draft", "tts", "audio"]),
        ([], 4, ["asr", "llm", "tts"]),
    ],
)
def test_parts_stand_for_the_whole_where_room_is_short(parts: list[str], height: int, shown: list[str]) -> None:
    spans = [ev.Work(turn=2, stage=lane, start=10.0, end=10.1) for lane in parts]
    pane = TimelinePane(fold([ev.TurnStarted(turn=2, time=10.0), *spans]))
    assert [line.plain.split()[0] for line in pane.draw(pane.values, 40, height)][:-1] == shown


def test_the_timeline_tells_how_the_synthesiser_fares() -> None:
    told = fold([ev.TurnStarted(turn=1, time=1.0), ev.Synthesis(turn=1, ready=17, released=3, real_time_factor=0.251)])
    heading = TimelinePane(told).heading(TimelinePane(told).values)
    assert heading == (" · seconds", " · 17 chunks ready, 3 sent · RTF 0.25")
    after = reduce(told, ev.TurnStarted(turn=2, time=9.0))
    assert after.synthesis == ev.Synthesis(turn=1, real_time_factor=0.251)


def test_stages_stand_in_the_order_of_an_utterance() -> None:
    turn = fold(ev.StageStatus(stage=name, state="ready") for name in ("tts", "extra", "llm", "mic"))
    assert [status.stage for status in in_order(turn.stages)] == ["mic", "llm", "tts", "extra"]


def test_engines_are_shown_where_not_every_process_fits() -> None:
    stages = (("ui", 3.0, 1.0), ("mic", 0.0, 1.0), ("asr", 8.0, 1.0), ("llm", 31.0, 1.0), ("tts", 2.0, 1.0))
    pane = UtilisationPane(fold([ev.Usage(cpu=40.0, memory_mb=512.0, stages=stages)]))
    (line,) = pane.draw(pane.values, 78, 1)
    assert line.plain == "cpu ·······▃ 40 %   gpu –   ram 512 MB   asr 8 %   llm 31 %   tts 2 %   ui 3 %"


def test_the_latest_moment_is_the_newest_thing_known() -> None:
    assert chart.latest_moment(fold([*first_exchange(), *answered()])) == pytest.approx(15.4)


@pytest.mark.parametrize(
    ("model", "engine", "runs"),
    [
        ("pocket", "torch", "torch"),
        ("pocket", "llamacpp", "llamacpp"),
        ("pocket-cllm", "torch", "llamacpp"),
        ("/models/Big.GGUF", "torch", "llamacpp"),
        ("/", "llamacpp", "torch"),
    ],
)
def test_a_model_is_run_by_what_can_read_it(model: str, engine: str, runs: str) -> None:
    assert engine_of(model, engine) == runs


class TestPace:
    def test_a_cheap_drawing_is_followed_by_the_next_after_a_frame(self) -> None:
        times = {"now": 5.0, "spent": 0.0}
        pace = Pace(lambda: times["now"], lambda: times["spent"])
        assert pace.wait() == 0.0
        pace.drawn()
        times.update(now=5.02, spent=0.001)
        assert pace.wait() == pytest.approx(0.03)
        times.update(now=5.06)
        assert pace.wait() == 0.0

    @given(st.floats(0.0001, 0.019))
    def test_drawing_takes_no_more_than_its_share_of_a_core(self, cost: float) -> None:
        times = {"now": 0.0, "spent": 0.0}
        pace = Pace(lambda: times["now"], lambda: times["spent"])
        for _ in range(100):
            pace.drawn()
            times["spent"] += cost
            times["now"] += pace.wait()
        assert times["spent"] / times["now"] <= 0.08 + 1e-9

    def test_a_drawing_is_never_put_off_for_long(self) -> None:
        times = {"now": 0.0, "spent": 0.0}
        pace = Pace(lambda: times["now"], lambda: times["spent"])
        pace.drawn()
        times.update(spent=9.0)
        assert pace.wait() == pytest.approx(0.25)
