"""Utilisation: engines first, where not every process fits."""

from __future__ import annotations

from predtui.state import events as ev
from predtui.tui.widgets.utilisation import UtilisationPane
from tests.tui.scenes import fold


def test_engines_are_shown_where_not_every_process_fits() -> None:
    stages = (("ui", 3.0, 1.0), ("mic", 0.0, 1.0), ("asr", 8.0, 1.0), ("llm", 31.0, 1.0), ("tts", 2.0, 1.0))
    pane = UtilisationPane(fold([ev.Usage(cpu=40.0, memory_mb=512.0, stages=stages)]))
    (line,) = pane.draw(pane.values, 78, 1)
    assert line.plain == "cpu ·······▃ 40 %   gpu –   ram 512 MB   asr 8 %   llm 31 %   tts 2 %   ui 3 %"
