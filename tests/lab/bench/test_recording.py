"""Recorded streams: real partial hypotheses of real sound, in order."""

from __future__ import annotations

import itertools
from pathlib import Path

from predtui.lab.bench import recording, streams
from predtui.models.shipped import asset
from predtui.settings import AsrSettings
from predtui.state.events import Transcript


def test_what_is_recorded_is_a_stream_that_a_bench_can_play(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "streams.json"
    assert recording.main(out, recording.pocket_prompts(2, 1), 1, AsrSettings()) == 0
    found = streams.recorded(out, 0)
    assert len(found) == 2
    for dialogue in found:
        times = [seconds for seconds, _ in dialogue.turns[0].partials]
        assert times == sorted(times)
        assert times[0] < times[-1]


def test_prompts_are_different_and_can_be_said_by_a_recogniser() -> None:
    prompts = recording.pocket_prompts(50, seed=1)
    assert len(set(prompts)) == 50
    assert all(prompt.islower() and prompt.replace(" ", "").isalpha() for prompt in prompts)


def test_the_shipped_streams_hold_real_revisions() -> None:
    shipped = streams.recorded(asset("streams", "pocket.json"), 0)
    assert len(shipped) >= 150
    revised = 0
    for dialogue in shipped:
        told = [event for event in streams.events(dialogue.turns[0], ()) if isinstance(event, Transcript)]
        assert told[-1].final
        revised += any(not after.prompt.startswith(before.prompt) for before, after in itertools.pairwise(told))
    assert revised > len(shipped) / 2


def test_dialogues_can_be_said_to_the_recogniser() -> None:
    written = streams.Dialogue((streams.typed("what is the capital of france", right=str.isupper),) * 2)
    (heard,) = recording.spoken([written], 1, AsrSettings())
    assert len(heard.turns) == 2
    for turn in heard.turns:
        assert turn.right is str.isupper
        assert turn.text
        assert len(turn.partials) > 2
