"""HTTP to a server: what it says, in one line what is wrong, and that giving up closes the connection at once."""

from __future__ import annotations

import itertools
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from predtui.clock import VirtualClock
from predtui.llm.base import Preempted
from predtui.llm.halt import Halt
from predtui.llm.remote.address import Address
from predtui.llm.remote.client import PATIENCE_S, Link
from predtui.llm.remote.failures import ServerError, understanding
from tests.llm.remote.certificate import CERTIFICATE
from tests.llm.remote.fake import Events, Fake, Route, Silence, Status, in_turn, serving

HANG_S = 20.0


def refused(route: Route, key: str = "") -> ServerError:
    with serving({"/x": route}) as server:
        link = Link(Address(server.url), key)
        with pytest.raises(ServerError) as raised:
            list(link.stream("/x", {})) if isinstance(route, Events) else link.ask("/x", {})
        link.close()
    return raised.value


def test_it_is_asked_and_answers_over_one_connection() -> None:
    with serving({"/a": {"said": 1}, "/b": [2], "/s": Events([{"n": 1}, {"n": 2}])}) as server:
        link = Link(Address(server.url))
        assert link.ask("/a") == {"said": 1}
        assert link.ask("/b", {"question": "é"}) == [2]
        assert [said["n"] for said in link.stream("/s", {})] == [1, 2]
        assert link.find("/nothing") is None
        link.close()
        link.close()
    assert server.bodies("/b") == [{"question": "é"}]


@pytest.mark.parametrize(
    ("route", "says", "passing"),
    [
        (Status(401), "wants a key (HTTP 401). Put it into the environment as PREDTUI_API_KEY.", False),
        (Status(404, {"detail": "Not Found"}), "refuses: Not Found (HTTP 404).", False),
        (Status(400, {"error": {"message": "too\nlong"}}), "refuses: too long (HTTP 400).", False),
        (Status(422, {"detail": [{"msg": "a list"}]}), "refuses: a list (HTTP 422).", False),
        (Status(429), "has too much to do (HTTP 429).", True),
        (Status(503, {"error": {"message": "Loading model"}}), "fails: Loading model (HTTP 503).", True),
        (Status(500, "<html>\n<h1>oops"), "fails (HTTP 500).", True),
        (Status(302, "", {"location": "http://elsewhere"}), "sends elsewhere (HTTP 302).", False),
        (Status(200, "no JSON"), "answers something that is not JSON. Is it a server of language models?", False),
        (Status(200, "[" * 100_000), "answers something that is not JSON.", False),
        (Status(200, ""), "answers something that is not JSON.", False),
        (Events([{"n": 1}, {"error": {"message": "out of memory"}}]), "fails: out of memory.", True),
        (Events([{"n": 1}], cut=True), "broke the connection off", True),
    ],
)
def test_a_failure_is_one_line_with_what_to_do(route: Route, says: str, passing: bool) -> None:
    error = refused(route)
    assert says in str(error)
    assert error.passing is passing
    assert len(str(error).splitlines()) == 1
    assert error.remedy
    assert "--engine llamacpp" in error.remedy or not passing


def test_a_key_that_is_refused_is_said_to_be() -> None:
    assert "refuses the key (HTTP 403)" in str(refused(Status(403), "secret"))


def test_a_server_that_is_not_there_is_told_of_with_the_local_model() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    link = Link(Address(url))
    with pytest.raises(
        ServerError, match=r"cannot be reached: Connection refused\. .*correct --url.*--engine llamacpp"
    ) as raised:
        link.ask("/x")
    assert raised.value.passing
    link.close()
    nowhere = Link(Address("http://nosuchhost.invalid"))
    with pytest.raises(ServerError, match="cannot be reached"):
        nowhere.ask("/x")
    nowhere.close()


def test_a_server_without_tls_is_told_from_one_that_is_not_there() -> None:
    with serving({}) as server:
        link = Link(Address(server.url.replace("http:", "https:")))
        with pytest.raises(ServerError, match=r"does not speak TLS\. Write http://"):
            link.ask("/x")
        link.close()


def test_what_passes_is_asked_again_with_longer_and_longer_pauses() -> None:
    clock = VirtualClock()
    with serving({"/x": in_turn(Status(503), Status(429, "", {"retry-after": "3"}), Status(502), [1])}) as server:
        link = Link(Address(server.url), clock=clock)
        link.patience = PATIENCE_S
        assert link.ask("/x") == [1]
        assert clock.now() == pytest.approx(0.25 + 3 + 1.0)
        link.close()


@pytest.mark.parametrize(("answer", "asked"), [(Status(503), range(5, 15)), (Status(400), range(1, 2))])
def test_it_is_asked_no_longer_than_patience_lasts(answer: Status, asked: range) -> None:
    clock = VirtualClock()
    with serving({"/x": answer}) as server:
        link = Link(Address(server.url), clock=clock)
        link.patience = PATIENCE_S
        with pytest.raises(ServerError):
            link.ask("/x")
        assert clock.now() <= PATIENCE_S
        assert len(server.asked) in asked
        link.close()


def endless(server_pause: float = 0.01) -> Events:
    return Events(({"n": number} for number in itertools.count()), server_pause)


def gone(server: Fake) -> bool:
    return server.dropped.wait(HANG_S)


def test_closing_a_stream_ends_the_servers_work() -> None:
    with serving({"/s": endless()}) as server:
        link = Link(Address(server.url))
        with link.stream("/s", {}) as stream:
            assert list(itertools.islice(stream, 3)) == [{"n": 0}, {"n": 1}, {"n": 2}]
        assert gone(server)
        assert server.sent < 100
        link.close()


@pytest.mark.parametrize("answer", [Silence(HANG_S), endless()], ids=["silence", "stream"])
def test_work_that_is_stale_is_given_up_whatever_the_server_does(answer: Route) -> None:
    halt = Halt()
    with serving({"/s": answer}) as server:
        link = Link(Address(server.url), stale=halt)
        threading.Timer(0.1, halt.set).start()
        before = time.monotonic()
        with pytest.raises(Preempted), link.stream("/s", {}) as stream:
            list(stream)
        assert time.monotonic() - before < HANG_S / 2
        halt.clear()
        if isinstance(answer, Events):
            assert gone(server)
        link.close()


def test_a_pause_between_two_attempts_ends_once_the_work_is_stale() -> None:
    halt = Halt()
    with serving({"/x": Status(503, "", {"retry-after": "15"})}) as server:
        link = Link(Address(server.url), stale=halt)
        link.patience = PATIENCE_S
        threading.Timer(0.1, halt.set).start()
        with pytest.raises(Preempted):
            link.ask("/x")
        assert len(server.asked) == 1
        link.close()


def test_what_arrived_and_was_not_read_is_counted() -> None:
    with serving({"/s": Events([{"n": number} for number in range(40)])}) as server:
        link = Link(Address(server.url))
        stream = link.stream("/s", {})
        events = iter(stream)
        next(events)
        until = time.monotonic() + HANG_S
        while server.sent < 40 and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)  # until the last of them is here
        stream.close()
        assert link.unread == 39
        link.close()


@pytest.mark.parametrize(
    ("read", "says"),
    [
        (lambda: {}["tokens"], "answers in a form that is not understood: it has no 'tokens'."),
        (lambda: int("x"), "answers in a form that is not understood."),
        (lambda: [][0], "answers in a form that is not understood."),
        (lambda: None.id, "answers in a form that is not understood."),  # type: ignore[attr-defined]
    ],
)
def test_an_answer_of_another_form_is_told_of_in_words(read: Callable[[], object], says: str) -> None:
    with pytest.raises(ServerError) as raised, understanding("The server at X"):
        read()
    assert raised.value.message == f"The server at X {says}"
    assert "Error" not in str(raised.value)


@contextmanager
def speaking_tls(folder: Path) -> Iterator[int]:
    """A server that does, and its port."""
    (folder / "both.pem").write_text(CERTIFICATE)
    secret = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secret.load_cert_chain(folder / "both.pem")
    with serving({"/x": [1]}) as server:
        server.socket = secret.wrap_socket(server.socket, server_side=True)
        yield server.server_address[1]


def test_a_server_with_tls_is_told_from_one_that_hangs_up(tmp_path: Path) -> None:
    with speaking_tls(tmp_path) as port:
        link = Link(Address(f"http://127.0.0.1:{port}"))
        with pytest.raises(ServerError, match=r"speaks TLS\. Write https://") as raised:
            link.ask("/x")
        assert not raised.value.passing
        link.close()
        link = Link(Address(f"https://127.0.0.1:{port}"))
        with pytest.raises(ServerError, match="has a certificate that this machine does not trust"):
            link.ask("/x")
        link.close()
    with serving({"/x": Events([], cut=True)}) as server:
        link = Link(Address(server.url))
        with pytest.raises(ServerError, match="broke the connection off"):
            list(link.stream("/x", {}))
        link.close()
