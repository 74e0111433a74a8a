"""The stages: in the order of an utterance."""

from __future__ import annotations

from predtui.state import events as ev
from predtui.tui.widgets.stages import in_order
from tests.tui.scenes import fold


def test_stages_stand_in_the_order_of_an_utterance() -> None:
    turn = fold(ev.StageStatus(stage=name, state="ready") for name in ("tts", "extra", "llm", "mic"))
    assert [status.stage for status in in_order(turn.stages)] == ["mic", "llm", "tts", "extra"]
