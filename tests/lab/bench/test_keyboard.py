"""Keys written to a real terminal, and what the app in it makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from predtui.lab.bench.keyboard import Scene, Terminal
from predtui.lab.bench.methods import METHODS, chosen
from predtui.lab.bench.on_screen import record, scene
from predtui.lab.bench.streams import typed
from predtui.predgen.options import SpeculationOptions
from predtui.registry import DRAFTERS
from predtui.settings import Settings
from predtui.state.events import Event, Transcript
from predtui.state.exchange import Exchange
from tests.cast import Pace, cast

UNHEARD = ("mic", "asr")


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Terminal]:
    for kind in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"PREDTUI_{kind}_DIR", str(tmp_path / kind))
    stages = tuple(cast(Pace(), "llm", "tts", "player"))
    with Terminal(Scene(Settings(), stages, without=UNHEARD)) as opened:
        yield opened


def finals(events: list[Event]) -> list[str]:
    return [event.prompt for event in events if isinstance(event, Transcript) and event.final]


def test_a_line_is_typed_answered_heard_and_measured(app: Terminal) -> None:
    asked = app.ask("how far", 0.01)
    assert asked.turn.conversation == (Exchange("how far", "You said how far. Over."),)
    heard, without, key = asked.audio_latency_ms, asked.baseline_audio_latency_ms, asked.key_ms
    assert heard is not None
    assert without is not None
    assert key is not None
    assert 0 < key < heard
    partial = [event.text for event in asked.events if isinstance(event, Transcript) and not event.final]
    shown = list(dict.fromkeys(partial))  # where the machine is busy, keys that wait together are one edit
    assert shown == [text for text in ("h", "ho", "how", "how f", "how fa", "how far") if text in shown]
    assert shown[-1] == "how far"
    again = app.ask("how deep", 0.0)
    assert again.turn.conversation[-1] == Exchange("how deep", "You said how deep. Over.")


def test_lines_sent_at_once_are_answered_one_after_the_other(app: Terminal) -> None:
    prompts = [f"line number {number}" for number in range(1, 9)]
    app.press("".join(f"{prompt}\r" for prompt in prompts))
    events = app.until(lambda turn: len(turn.conversation) == 8 and turn.phase == "done")
    assert finals(events) == prompts


def test_what_was_measured_becomes_a_row(app: Terminal) -> None:
    stream = typed("how far", right=lambda reply: "far" in reply)
    row = record("greedy", SpeculationOptions(), 1, stream, app.ask(stream.text, 0.0))
    assert (row.prompt, row.reply, row.right, row.identical) == ("how far", "You said how far. Over.", True, True)
    assert row.audio_latency_ms is not None
    assert row.ttfs_ms is not None


def test_each_method_becomes_the_stage_that_it_names() -> None:
    options = SpeculationOptions(threads=1)
    for method in METHODS.values():
        opened = scene(method, options)
        assert opened.stages[0].options == method.over(options)
        assert opened.settings.llm.pause_ms == 1000 * method.pause_s


def test_every_drafter_is_a_method_by_its_own_name() -> None:
    for name, method in chosen("drafters").items():
        decoding = method.over(SpeculationOptions()).decoding
        assert name in ("baseline", "greedy") or (decoding.decoder, decoding.drafter) == ("speculative", name)
    fed = {name for name, entry in DRAFTERS.items() if "soft" not in entry.needs}
    assert fed < set(chosen("drafters"))
