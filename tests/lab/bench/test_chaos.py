"""What the bench of random faults holds against the app: each of its accusations, and none where all is well."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from predtui.lab.bench.chaos import Sample, grown, trends
from predtui.lab.bench.chaos_app import Disturbed, Told
from predtui.lab.bench.chaos_faults import FAULTS, slowness, unable
from predtui.lab.bench.chaos_ledger import Asked, accounts, refusals, turns, unequal
from predtui.lab.bench.chaos_stages import Devices
from predtui.lab.bench.keyboard import Scene
from predtui.predgen.options import SpeculationOptions
from predtui.settings import Settings
from predtui.state import events as ev
from predtui.state.turn import Turn
from tests.cast import Pace, cast

PROMPT, REPLY = "how far", "You said how far. Over."


def told(*events: ev.Event, number: int = 1, source: str = "typed") -> list[Told]:
    started = ev.TurnStarted(source=source)  # type: ignore[arg-type]
    return [Told(10.0 * number, replace(event, turn=number), Turn()) for event in (started, *events)]


def final(text: str = PROMPT) -> ev.Transcript:
    return ev.Transcript(stable=text, unfinished=False, final=True)


def finished(text: str = REPLY, reason: str = "end") -> ev.ReplyFinished:
    return ev.ReplyFinished(prompt=PROMPT, text=text, reason=reason)  # type: ignore[arg-type]


def faults(story: list[Told], *asked: Asked, heard: str = PROMPT) -> list[str]:
    found = accounts(asked or (Asked(1, 10.0, "typed", PROMPT),), turns(story), {"a.wav": {heard}})
    return [violation.what for violation in found]


def spoken() -> Asked:
    return Asked(1, 10.0, "spoken", PROMPT, "a.wav")


def test_what_is_answered_interrupted_or_refused_is_accounted_for() -> None:
    prompt = Asked(1, 10.0, "typed", PROMPT)
    for events, became in (
        ((final(), finished()), "answered"),
        ((final(), ev.Interrupt(reason="silenced")), "interrupted: silenced"),
        (
            (final(), ev.Notice(text="No reply: gone.", severity="error"), finished("", "interrupted")),
            "refused: No reply",
        ),
    ):
        assert not faults(told(*events), prompt)
        assert prompt.became == became


@pytest.mark.parametrize(
    ("story", "what"),
    [
        (told(final()), "no reply, and no reason"),
        (told(final(), finished("", "interrupted")), "no reply, and no reason"),
        (told(final("how"), finished()), "lost"),
        (told(final(), finished()) + told(final("me"), finished(), number=2), "nobody asked 'me'"),
        (told(final(), ev.ReplyCommitted(text="A."), ev.Playback(index=1), finished()), "committed sentences"),
        (told(ev.Playback(index=1), ev.Playback(index=0), final(), finished()), "committed sentences"),
    ],
)
def test_what_must_not_be_is_told(story: list[Told], what: str) -> None:
    assert any(what in each for each in faults(story))


def test_a_spoken_prompt_that_is_cut_short_must_not_be_answered() -> None:
    whole = told(final("how far is it"), finished(), source="voice")
    cut = told(final("how"), finished(), source="voice")
    refused = told(final("how"), ev.Notice(text="Say it again.", severity="warning"), source="voice")
    assert not faults(whole, spoken(), heard="how far is it")
    assert any("was said" in each for each in faults(cut, spoken(), heard="how far is it"))
    assert not faults(refused, spoken(), heard="how far is it")


def test_what_is_misheard_is_not_cut_short() -> None:
    heard = "do you know when tajikistan became independent"
    for said, wrong in (
        ("do you know when to ticket do you you to do to", False),
        ("do you know when tajikistan", True),
        ("when tajikistan became independent", True),
        ("what language will i need in lesotho please me", True),
    ):
        assert bool(faults(told(final(said), finished(), source="voice"), spoken(), heard=heard)) == wrong, said


def test_who_is_not_listened_to_is_told_why() -> None:
    why = Told(10.5, ev.Notice(text="Cannot listen: mic not available. Type instead.", severity="warning"), Turn())
    assert [violation.what for violation in accounts([spoken()], [], {})] == ["not listened to, and no reason"]
    assert not accounts([spoken()], [], {}, refusals([why]))
    assert accounts([spoken()], [], {}, refusals([replace(why, time=30.0)]))


def test_a_turn_belongs_to_the_prompt_before_it_alone() -> None:
    second = replace(spoken(), step=2, time=12.0)
    story = [replace(each, time=12.1) for each in told(final(), finished(), source="voice")]
    found = accounts([spoken(), second], turns(story), {})
    assert [(violation.step, violation.what) for violation in found] == [(1, "not listened to, and no reason")]
    assert second.became == "answered"


@pytest.mark.skipif("slow" in unable(), reason="needs a C compiler, and Linux")
def test_a_slow_disk_is_slow_for_files_alone(tmp_path: Path) -> None:
    code = """
import os, sys, time
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
def took(to):
    began = time.monotonic()
    os.write(to, b"x")
    return time.monotonic() - began
pipe = os.pipe()[1]
fast = took(file)
open(os.environ["PREDTUI_SLOW_DISK"], "x").close()
print(fast < took(file) and took(file) > 0.2, min(took(pipe) for _ in range(9)) < 0.2)
"""
    environment = {**os.environ, **slowness(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "file")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_a_reply_is_compared_with_plain_decoding() -> None:
    options = SpeculationOptions()
    (answered,) = turns(told(final("hello"), finished("Nobody says this.")))
    ((_, plain),) = unequal([answered], options)
    (right,) = turns(told(final("hello"), finished(plain)))
    (part,) = turns(told(final("hello"), ev.ReplyCommitted(text=plain[:4]), ev.Interrupt(reason="silenced")))
    assert plain
    assert not unequal([right, part], options)


def test_what_grows_is_told_and_what_is_flat_is_not() -> None:
    flat = [Sample(step, 30 + step % 2, {"llm": 100.0 + step % 3}, 80.0) for step in range(40)]
    leak = [Sample(step, 30 + step, {"llm": 100.0 + 10 * step}, 80.0) for step in range(40)]
    assert not grown(trends(flat))
    assert [line.split(" grows")[0] for line in grown(trends(leak))] == ["descriptors", "memory_mb llm"]


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disturbed]:
    stages = tuple(cast(Pace(step_s=0.05), "llm", "tts", "player"))
    with Disturbed(Scene(Settings(), stages, without=("mic", "asr"))) as opened:
        yield opened


def test_a_turn_under_faults_is_seen_to_its_end(app: Disturbed, tmp_path: Path) -> None:
    devices, chance = Devices(str(tmp_path)), random.Random(1)
    asked = Asked(1, 0.0, "typed", PROMPT)
    app.after(0.2, lambda: asked.faults.append(FAULTS["kill"](app, chance, devices)))
    app.after(0.3, lambda: FAULTS["resize"](app, chance, devices))
    app.press(PROMPT)
    app.wait(1.0)
    app.press("\r")
    assert app.wait(30.0, lambda turn: turn.phase == "done" and turn.number == 1)
    assert asked.faults
    assert not accounts([asked], turns(app.told), {})
    assert asked.became == "answered"
    assert not app.torn
