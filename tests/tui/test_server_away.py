"""A server that goes away, as the screen shows it: a turn waits for it, says so and can be given up; nothing is lost
once it is back, and where it stays away a line says what else there is."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from predtui.clock import RealClock
from predtui.llm.base import never
from predtui.llm.remote import client
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import create
from predtui.runtime.hosts.thread import ThreadHost
from predtui.runtime.manner import Manner
from predtui.runtime.pipeline import Pipeline
from predtui.settings import LlmSettings
from predtui.state.events import ReplyFinished, Transcript, TurnStarted
from predtui.state.stage import StageContext, StageSpec
from predtui.tui.app import PredtuiApp
from predtui.tui.widgets.bars import NoticeBar
from tests.llm.remote.fake import Events, Fake, serving
from tests.llm.remote.imitations import llama_server
from tests.tui.conftest import MakeApp
from tests.tui.test_app import plain, settle, until

SEED = 3
ASKED = "what is it"


class Gone(dict[str, Any]):
    """Every connection that is open is cut."""

    def get(self, _path: str, _default: Any = None) -> Any:
        return Events((), cut=True)


class Away:
    """A server at an address of its own that may go away and come back."""

    def __init__(self, routes: dict[str, Any]) -> None:
        self.routes, self._port, self._up = routes, 0, ExitStack()
        self.come()

    def come(self) -> None:
        self.server: Fake = self._up.enter_context(serving(self.routes, self._port))
        self._port = self.server.server_address[1]

    def go(self) -> None:
        """What it is asked on connections that are open is cut off, too."""
        self.server.routes = Gone()
        self._up.close()


@contextmanager
def away() -> Iterator[Away]:
    one = Away(dict(llama_server(SEED)))
    try:
        yield one
    finally:
        one.go()


def options(server: Away) -> SpeculationOptions:
    settings = LlmSettings(engine="remote", url=server.server.url, continuations=0, decoder="ar")
    return replace(SpeculationOptions.of(settings), reply_tokens=30, system="sys", policy=False)


def undisturbed(server: Away) -> str:
    stage = create(options(server))
    list(stage.open(StageContext(RealClock(), never, logging.getLogger("test"))))
    said = [TurnStarted(turn=1), Transcript(turn=1, revision=1, stable=ASKED, final=True)]
    out = [event for heard in said for event in stage.handle(heard)]
    stage.close()
    return next(event.text for event in out if isinstance(event, ReplyFinished))


def assistant(make_app: MakeApp, server: Away) -> tuple[PredtuiApp, Pipeline]:
    clock = RealClock()
    pipeline = Pipeline(
        [StageSpec("llm", "predtui.predgen.stage:create", options(server))],
        clock,
        make_host=lambda spec, emit: ThreadHost(spec, emit, clock),
        manner=Manner(measures=False),
        monitored=False,
    )
    return make_app(pipeline, clock=clock), pipeline


async def ready(pilot: Pilot[None], pipeline: Pipeline) -> None:
    await settle(pilot)
    await long(pilot, lambda: pipeline.state.stages["llm"].state == "ready")


async def long(pilot: Pilot[None], there: Callable[[], bool]) -> None:
    """Waits longer: a server is."""
    for _ in range(3):
        try:
            await until(pilot, there)
            return
        except AssertionError:
            continue
    await until(pilot, there)


async def answered(pilot: Pilot[None], pipeline: Pipeline, turn: int) -> str:
    await long(pilot, lambda: pipeline.state.number == turn and pipeline.state.reply is not None)
    assert pipeline.state.reply is not None
    return pipeline.state.reply.text


async def test_a_turn_waits_for_its_server_and_goes_on(make_app: MakeApp) -> None:
    with away() as server:
        wanted = undisturbed(server)
        app, pipeline = assistant(make_app, server)
        async with app.run_test() as pilot:
            await ready(pilot, pipeline)

            server.go()
            await pilot.press(*ASKED, "enter")
            await until(pilot, lambda: "llm waiting" in plain(app, NoticeBar))
            shown = " ".join(plain(app, NoticeBar).split())
            assert "cannot be reached" in shown
            assert "Escape gives the turn up." in shown
            server.come()
            assert await answered(pilot, pipeline, 1) == wanted
            await until(pilot, lambda: "waiting" not in plain(app, NoticeBar))


async def test_a_reply_that_breaks_off_in_its_middle_is_whole(make_app: MakeApp) -> None:
    with away() as server:
        whole = server.routes["/completion"]
        wanted = undisturbed(server)
        app, pipeline = assistant(make_app, server)
        async with app.run_test() as pilot:
            await ready(pilot, pipeline)

            count = itertools.count()

            def breaking(body: dict[str, Any]) -> Any:
                answer = whole(body)
                if not isinstance(answer, Events):
                    return answer
                return Events(itertools.islice(answer.said, 3), cut=next(count) % 2 == 0) if next(count) < 5 else answer

            server.server.routes["/completion"] = breaking
            await pilot.press(*ASKED, "enter")
            assert await answered(pilot, pipeline, 1) == wanted


async def test_escape_gives_the_turn_up_and_the_next_one_is_answered(make_app: MakeApp) -> None:
    with away() as server:
        app, pipeline = assistant(make_app, server)
        async with app.run_test() as pilot:
            await ready(pilot, pipeline)
            server.go()
            await pilot.press(*ASKED, "enter")
            await until(pilot, lambda: "llm waiting" in plain(app, NoticeBar))
            await pilot.press("escape")
            await until(pilot, lambda: not pipeline.state.busy)
            assert "waiting" not in plain(app, NoticeBar)
            server.come()
            await pilot.press(*ASKED, "enter")
            assert await answered(pilot, pipeline, 2)


async def test_where_it_stays_away_a_line_proposes_the_local_model(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PATIENCE_S", 0.6)
    with away() as server:
        app, pipeline = assistant(make_app, server)
        async with app.run_test() as pilot:
            await ready(pilot, pipeline)
            server.go()
            await pilot.press(*ASKED, "enter")
            await long(pilot, lambda: "llm failed" in plain(app, NoticeBar))
            assert "--engine llamacpp" in " ".join(plain(app, NoticeBar).split())
            server.come()
            await pilot.press(*ASKED, "enter")
            assert await answered(pilot, pipeline, 2)
            await until(pilot, lambda: "failed" not in plain(app, NoticeBar))
