"""The engine "remote": chosen by settings, told of while it starts, and waited for when its server is away."""

from __future__ import annotations

import logging
import re
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from predtui.clock import VirtualClock
from predtui.commands.checks import language_model as checks
from predtui.errors import PredtuiError
from predtui.llm.base import ModelRequest, never
from predtui.llm.load import load, preparing
from predtui.llm.remote import client, engine
from predtui.llm.remote.address import reference
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import create
from predtui.runtime.build import resolved
from predtui.runtime.needs import connected, needs
from predtui.settings import LlmSettings, Settings
from predtui.state.events import ReplyFinished, Transcript, TurnStarted
from predtui.state.stage import StageContext
from tests.around import innermost
from tests.llm.remote.fake import Fake, Status, in_turn, serving
from tests.llm.remote.imitations import TELL_TOKENS, llama_server, openai


def options(server: Fake) -> SpeculationOptions:
    settings = LlmSettings(engine="remote", url=server.url, continuations=0, decoder="ar")
    return replace(SpeculationOptions.of(settings), reply_tokens=30, system="sys", policy=False)


def test_settings_name_the_server_and_its_model() -> None:
    settings = Settings(llm=LlmSettings(engine="remote", url="http://box:8080/", model="qwen"))
    named = resolved(settings)
    assert named.llm.model == "http://box:8080/#qwen"
    assert resolved(named) == named
    assert SpeculationOptions.of(named.llm).model == SpeculationOptions.of(settings.llm).model == named.llm.model


def test_the_client_is_imported_when_a_server_is_asked_for() -> None:
    code = (
        "import sys, predtui.llm.remote.engine, predtui.runtime.build; print([m for m in sys.modules if 'httpx' in m])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_while_it_starts_it_is_told_what_the_server_is() -> None:
    with serving(llama_server(3)) as server:
        lines = [line for line, _ in preparing("remote", ModelRequest(reference(server.url, "")))]
    assert lines[0] == f"asking {server.url}"
    assert lines[-1].startswith("babble-7B on llama-server b9999, candidates verified by generating again")


def test_a_server_that_loads_its_model_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "LOADING_S", 30.0)
    routes = dict(llama_server(3))
    loading = Status(503, {"error": {"message": "Loading model", "code": 503}})
    routes["/props"] = in_turn(loading, loading, routes["/props"])
    clock = VirtualClock()
    with serving(routes) as server:
        lines = [line for line, _ in engine.prepare(ModelRequest(reference(server.url, "")), clock)]
    assert lines[1:3] == [f"{server.url} is loading its model"] * 2
    assert "llama-server" in lines[3]
    with serving({"/props": loading}) as server, pytest.raises(PredtuiError, match="Loading model"):
        list(engine.prepare(ModelRequest(reference(server.url, "")), clock))
    assert clock.now() > engine.LOADING_S


def test_without_an_address_or_a_server_the_line_says_what_to_do() -> None:
    with pytest.raises(PredtuiError, match="--url http://HOST:PORT"):
        list(preparing("remote", ModelRequest(reference("", "auto"))))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    for use in (load, lambda model, engine: list(preparing(engine, ModelRequest(model)))):
        with pytest.raises(PredtuiError, match=r"cannot be reached.*Start the server.*--engine llamacpp"):
            use(reference(url, "auto"), "remote")


def test_the_stage_may_reach_its_server_and_nothing_else() -> None:
    base = needs()["llm"]
    assert connected(base, LlmSettings()) == base
    assert connected(base, LlmSettings(url="http://box:8080")) == base, "another engine has no network"
    far = LlmSettings(engine="remote", url="https://box")
    assert connected(base, far) == replace(base, ports=(443,))
    assert connected(connected(base, far), LlmSettings()) == base
    assert connected(base, LlmSettings(engine="remote")) == base
    assert connected(None, far) is None


def test_the_doctor_tells_what_the_server_is() -> None:
    with serving(llama_server(3)) as server:
        settings = Settings(llm=LlmSettings(engine="remote", url=server.url))
        (finding,) = checks.language_model(resolved(settings))
        assert (finding.state, finding.subject) == ("found", "language model")
        assert "babble-7B on llama-server b9999" in finding.detail
    (finding,) = checks.language_model(resolved(settings))
    assert finding.state == "broken"
    assert "--engine llamacpp" in finding.remedy


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (
            "llama-server",
            {
                "verification": "regenerates: .* tokens are the same",
                "tokens": "token ids, and the 20 likeliest of what",
            },
        ),
        ("vllm", {"verification": "exact: ", "tokens": "token ids, and the 3 likeliest of every position"}),
        ("sglang", {"verification": "exact: ", "thinking": "no marks for thoughts"}),
        (
            "text",
            {
                "verification": "regenerates: .* words are the same",
                "tokens": "tells text",
                "thinking": "not seen to think",
            },
        ),
    ],
)
def test_the_doctor_tells_what_the_server_offers(kind: str, says: dict[str, str]) -> None:
    with serving((TELL_TOKENS | {"text": openai})[kind](3)) as server:
        settings = resolved(
            Settings(llm=LlmSettings(engine="remote", url=server.url, model="small" if kind == "text" else "auto"))
        )
        told = {finding.subject: finding for finding in checks.server(settings)}
    assert list(told) == ["verification", "tokens", "thinking", "cancellation"]
    assert {finding.state for finding in told.values()} == {"found"}
    for subject, line in says.items():
        assert re.search(line, told[subject].detail)
    assert "waits" in told["cancellation"].detail


def test_the_doctor_tells_once_that_a_server_is_away_and_that_one_fails() -> None:
    with serving(openai(3)) as server:
        settings = resolved(Settings(llm=LlmSettings(engine="remote", url=server.url, model="small")))
        server.routes["/v1/chat/completions"] = Status(400, {"error": "no temperature"})
        *_, last = checks.server(settings)
    assert (last.subject, last.state) == ("server", "broken")
    assert "refuses: no temperature (HTTP 400)" in last.detail
    assert [*checks.server(settings)] == []
    assert [*checks.server(resolved(Settings()))] == []


def test_the_model_of_a_server_needs_no_name() -> None:
    with serving(llama_server(3)) as server:
        settings = Settings(llm=LlmSettings(engine="remote", url=server.url.removeprefix("http://") + "/v1", model=""))
        assert resolved(resolved(settings)) == resolved(settings)
        (finding,) = checks.language_model(resolved(settings))
    assert (finding.state, "babble-7B" in finding.detail) == ("found", True)


def turn(stage: object, number: int) -> str:
    events = [
        TurnStarted(turn=number),
        Transcript(turn=number, tentative="what is", unfinished=False),
        Transcript(turn=number, revision=1, stable="what is the sun", final=True),
    ]
    out = [event for sent in events for event in stage.handle(sent)]  # type: ignore[attr-defined]
    return next(event.text for event in out if isinstance(event, ReplyFinished))


def test_a_turn_that_began_is_answered_once_the_server_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_PAUSE_S", 0.01)
    routes = dict(llama_server(3))
    whole = routes["/completion"]
    with serving(routes) as server:
        stage = create(options(server))
        list(stage.open(StageContext(VirtualClock(), never, logging.getLogger("test"))))
        wanted = turn(stage, 1)
        assert wanted
        away = [0]

        def sometimes(body: object) -> object:
            away[0] += 1
            return Status(502) if away[0] % 4 else whole(body)  # type: ignore[operator]

        server.routes["/completion"] = sometimes
        assert turn(stage, 2) == wanted
        monkeypatch.setattr(innermost(stage._parts.loaded.model)._link, "patience", 0.05)
        server.routes["/completion"] = Status(502)
        with pytest.raises(PredtuiError, match=r"fails \(HTTP 502\).*--engine llamacpp"):
            turn(stage, 3)
        server.routes["/completion"] = whole
        assert turn(stage, 4) == wanted, "the stage runs on"
        stage.close()
