"""What the hub says is read, doubted, and told in one line where it makes no sense."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from predtui.errors import PredtuiError
from predtui.models import hub as asking
from predtui.models.connection import why
from predtui.models.hub import Hub, must_be_online
from tests.models.hub import ANSWERS, COMMIT, HubServer, serving


@pytest.fixture(scope="module")
def running() -> Iterator[HubServer]:
    with serving() as hub:
        yield hub


@pytest.fixture
def server(running: HubServer, monkeypatch: pytest.MonkeyPatch) -> HubServer:
    online(monkeypatch)
    running.reset()
    running.repositories["a/b"] = {"x-Q8_0.gguf": b"GGUF", "config.json": b"{}"}
    return running


def online(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is where predtui is started: the libraries have not been imported yet, and nobody is offline."""
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(name, "1")  # which is taken away, and comes back
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(asking, "OFFLINE", False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("HF_TOKEN", "secret")


def hub(server: HubServer) -> Hub:
    return Hub(server.address, wait=lambda seconds: None)


def test_a_repository_is_read_with_what_it_holds(server: HubServer) -> None:
    server.about["gated"] = "manual"
    found = hub(server).repository("a/b")
    assert (found.commit, found.licence, found.gated, found.task) == (COMMIT, "apache-2.0", True, "text-generation")
    weights, config = found.files
    assert (weights.name, weights.size, weights.digest[:7]) == ("x-Q8_0.gguf", 4, "sha256:")
    assert config.digest == "git:9e26dfeeb6e641a33dae4961196235bdb965b21b"
    address = hub(server).address(found, "sub folder/x#1.gguf")
    assert address == f"{server.address}/a/b/resolve/{COMMIT}/sub%20folder/x%231.gguf"


def test_the_key_is_sent_to_this_hub_alone(server: HubServer) -> None:
    asked = hub(server)
    asked.repository("a/b")
    assert [key for _, _, key in server.asked] == ["Bearer secret"]
    assert asked.token(f"{server.address}/a/b") == "secret"
    assert asked.token(f"{server.address}.example.org/a/b") == asked.token("https://example.org/x") == ""


@pytest.mark.parametrize("fault", ANSWERS)
def test_whatever_it_says_is_a_repository_or_a_line(fault: str, server: HubServer) -> None:
    server.answers.extend([fault] * asking.TRIES)
    if fault in ("wrong size", "wrong digest", "no digest", "no files", "evil names"):
        assert not any(".." in file.name for file in hub(server).repository("a/b").files)
        return
    with pytest.raises(PredtuiError, match=r"^[^\n]+$") as raised:
        hub(server).repository("a/b")
    assert raised.value.remedy


@pytest.mark.parametrize("fault", ["drop", "429", "503"])
def test_what_passes_is_waited_for(fault: str, server: HubServer) -> None:
    server.answers.extend([fault] * (asking.TRIES - 1))
    assert hub(server).repository("a/b").files
    assert len(server.asked) == asking.TRIES


def test_what_it_does_not_have_is_named(server: HubServer) -> None:
    with pytest.raises(PredtuiError, match=r"has no a/none \(404\)\. Look for it: predtui models search WORDS$"):
        hub(server).repository("a/none")
    server.answers.append("403")
    with pytest.raises(PredtuiError, match=r"only to those who have accepted its terms.*hf auth login"):
        hub(server).repository("a/b")


@pytest.mark.parametrize(
    "about",
    [{"siblings": 3}, {"siblings": [{"rfilename": "x", "lfs": 3}]}, {"sha": None}, {"tags": 3}, {"siblings": {"a": 1}}],
)
def test_an_answer_that_makes_no_sense_is_a_line(about: dict[str, object], server: HubServer) -> None:
    server.about.update(about)
    with pytest.raises(PredtuiError, match=r"^[^\n]+ makes no sense [^\n]+$"):
        hub(server).repository("a/b")


@pytest.mark.parametrize("told", [{"rfilename": 3}, {"rfilename": "x", "size": "large"}, {"rfilename": "x"}])
def test_a_file_without_a_name_or_a_size_is_left_out(told: dict[str, object], server: HubServer) -> None:
    server.about["siblings"] = [told]
    assert hub(server).repository("a/b").files == ()


def test_searching_tells_names_and_licences(server: HubServer) -> None:
    (hit,) = hub(server).search("x")
    assert (hit.name, hit.downloads, hit.licence, hit.gated) == ("a/b", 12345, "apache-2.0", False)
    assert "search=x" in server.asked[0][0]


def test_offline_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "OFFLINE", False)
    must_be_online()
    with pytest.raises(PredtuiError, match="--offline"):
        must_be_online(offline=True)
    monkeypatch.setattr(asking, "OFFLINE", True)
    with pytest.raises(PredtuiError, match="HF_HUB_OFFLINE"):
        must_be_online()


def test_another_hub_is_asked_over_https_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    online(monkeypatch)
    with pytest.raises(PredtuiError, match="only https is"):
        Hub("http://hub.example.org")


@pytest.mark.parametrize("ask", ["search", "repository"])
def test_without_a_network_it_says_so_at_once(ask: str, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    """The library would try for more than a minute."""
    online(monkeypatch)
    waits = list[float]()

    def nowhere(*_: object, **__: object) -> object:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(PredtuiError) as told:
        getattr(Hub("https://hub.invalid", waits.append), ask)("a/m")
    assert str(told.value).startswith(
        "hub.invalid cannot be reached: its name cannot be looked up, as without a network."
    )
    assert "predtui models list" in told.value.remedy
    assert not waits
    assert not caplog.records


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (socket.gaierror(-2, "Name or service not known"), "its name cannot be looked up, as without a network"),
        (ConnectionRefusedError(111, "Connection refused"), "nobody answers there"),
        (TimeoutError("timed out"), "it does not answer in time"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "there is no network, or no way to it"),
        (OSError(5, "Input/output error"), "Input/output error"),
    ],
)
def test_why_nobody_was_reached_is_told_in_words_however_deep_it_lies(error: OSError, words: str) -> None:
    assert why(error) == words
    outer = RuntimeError("ConnectError: [Errno -2]")
    outer.__cause__ = error
    if words != "Input/output error":
        assert why(outer) == words
