"""A stage's process can do what its stage said that it needs, and nothing else that matters."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from predtui.clock import RealClock
from predtui.commands.checks import machine
from predtui.llm.remote.keys import VARIABLES
from predtui.models.places import find, hugging_face
from predtui.runtime.hosts import confinement
from predtui.runtime.hosts.confinement import means
from predtui.runtime.hosts.process import ProcessHost
from predtui.runtime.needs import CONVERTED, connected, needs
from predtui.settings import LlmSettings, SafetySettings, Settings
from predtui.state import events as ev
from predtui.state.stage import Needs, StageContext, StageSpec
from predtui.system import landlock
from tests.models.homes import STUB, alone, cached, in_ollama, write
from tests.runtime.hosts.collector import Collector
from tests.toys import Toy

pytestmark = pytest.mark.skipif(len(means()) < 2, reason="this system has no Landlock, or no seccomp")


@dataclass(frozen=True)
class Places:
    """What the acts act on: a folder of models, one that may be written, and two ports that are listened on."""

    models: Path
    writes: Path
    port: int
    elsewhere: int


def _connect(places: Places) -> object:
    return socket.create_connection(("127.0.0.1", places.port), timeout=5)


def _connect_elsewhere(places: Places) -> object:
    return socket.create_connection(("127.0.0.1", places.elsewhere), timeout=5)


def _datagram(places: Places) -> object:
    return socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)


def _listen(places: Places) -> object:
    return socket.create_server(("127.0.0.1", 0))


def _local(places: Places) -> object:
    return socket.socket(socket.AF_UNIX)


def _shell(places: Places) -> object:
    return subprocess.run(["/bin/sh", "-c", "true"], check=True)


def _python(places: Places) -> object:
    return subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)


def _home(places: Places) -> object:
    return Path("~/.bashrc").expanduser().write_text("echo owned")


def _own_code(places: Places) -> object:
    with Path(confinement.__file__).open("a"):
        return None


def _temporary(places: Places) -> object:
    return Path("/tmp/predtui-was-here").write_text("x")


def _remove_model(places: Places) -> object:
    return (places.models / "spare.gguf").unlink()


def _key(places: Places) -> object:
    return Path("~/.ssh/id").expanduser().read_text()


def _hub_key(places: Places) -> object:
    return Path("~/.cache/huggingface/token").expanduser().read_text()


def _ollama_key(places: Places) -> object:
    return Path("~/.ollama/id_ed25519").expanduser().read_text()


def _recording(places: Places) -> object:
    return (Path(os.environ["PREDTUI_STATE_DIR"]) / "sessions" / "events.jsonl").read_text()


def _conversations(places: Places) -> object:
    return (Path(os.environ["PREDTUI_DATA_DIR"]) / "conversations" / "conversations.db").read_text()


def _key_by_link(places: Places) -> object:
    return (places.models / "link").read_text()


def _trace(places: Places) -> object:
    return Path(f"/proc/{os.getppid()}/environ").read_bytes()


def _signal(places: Places) -> object:
    return os.kill(os.getppid(), 0)


def _in_a_thread(places: Places) -> object:
    raised: list[OSError] = []

    def act() -> None:
        try:
            _home(places)
        except OSError as error:
            raised.append(error)

    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return None


def _every_thread(places: Places) -> object:
    """Confinement binds a thread and those that it starts: none may have been there before."""
    states = [path.read_text() for path in Path("/proc/self/task").glob("*/status")]
    assert len(states) > 1
    if all("Seccomp:\t2" in state for state in states):
        raise PermissionError("Permission denied in every thread")
    return None


def _read(places: Places) -> object:
    return (places.models / "model.gguf").read_text() + Path("/etc/hosts").read_text()


def _named(places: Places) -> object:
    """Models of other programs, by their names."""
    return [find(name).read_bytes() for name in ("ollama:qwen3:8b", "lmstudio:a/studio", "a/cached", "a/own")]


def _write(places: Places) -> object:
    places.writes.mkdir(exist_ok=True)
    (places.writes / "new").mkdir()
    (places.writes / "new" / "a").write_text("x")
    return (places.writes / "new" / "a").replace(places.writes / "b")


def _share(places: Places) -> object:
    path = Path(f"/dev/shm/predtui-{os.getpid()}")
    path.write_text("x")
    path.unlink()
    os.close(os.memfd_create("x"))
    return socket.socketpair()


NETWORK: tuple[Callable[[Places], object], ...] = (_connect, _connect_elsewhere, _datagram, _listen)
NEVER = (
    _home, _own_code, _temporary, _remove_model, _key, _key_by_link, _hub_key, _ollama_key, _recording, _conversations,
    _trace, _signal, _in_a_thread, _every_thread,
)  # fmt: skip
ALWAYS = (_read, _named, _share)
ACTS = {act.__name__: act for act in (*NETWORK, *NEVER, *ALWAYS, _local, _shell, _python, _write)}


def trying(places: Places) -> Toy:
    """Does what a transcript names, and says how that went."""

    def handle(event: ev.Event, context: StageContext) -> Iterator[ev.Event]:
        assert isinstance(event, ev.Transcript)
        try:
            ACTS[event.text](places)
        except OSError as error:
            yield ev.Candidate(prompt=event.text, new=str(error))
        else:
            yield ev.Candidate(prompt=event.text, new="done")

    return Toy(handler=handle)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Places]:
    home, state = tmp_path / "home", tmp_path / "state"
    for folder in (home / ".ssh", state / "sessions", tmp_path / "data" / "conversations", tmp_path / "models"):
        folder.mkdir(parents=True)
    (home / ".ssh" / "id").write_text("secret")
    (state / "sessions" / "events.jsonl").write_text("{}")
    (tmp_path / "data" / "conversations" / "conversations.db").write_text("said")
    for name in ("model.gguf", "spare.gguf"):
        (tmp_path / "models" / name).write_text("weights")
    (tmp_path / "models" / "link").symlink_to(home / ".ssh" / "id")
    alone(monkeypatch, home)
    for path in (".lmstudio/models/a/studio/x-Q4_0.gguf", "own/a/own/x-Q4_0.gguf"):
        write(home / path)
    cached(hugging_face(), "a/cached", {"x-Q4_0.gguf": STUB})
    in_ollama(home / ".ollama" / "models")
    for path in (".cache/huggingface/token", ".ollama/id_ed25519"):
        write(home / path, b"secret")
    monkeypatch.setenv("PREDTUI_STATE_DIR", str(state))
    monkeypatch.setenv("PREDTUI_DATA_DIR", str(tmp_path / "data"))
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_server(("127.0.0.1", 0)) as another:
        yield Places(tmp_path / "models", tmp_path / "writes", listener.getsockname()[1], another.getsockname()[1])


def tried(places: Places, allowed: Needs | None, names: set[str]) -> dict[str, str]:
    """Act → "done", or the error."""
    out = Collector()
    spec = StageSpec("toy", f"{__name__}:trying", places, needs=allowed)
    host = ProcessHost(spec, out.append, RealClock())
    host.start()
    results = {}
    for revision, name in enumerate(sorted(names), 1):
        host.send(ev.Transcript(turn=1, revision=revision, stable=name, final=True))
        said = out.wait(lambda e, name=name: isinstance(e, ev.Candidate) and e.prompt == name)  # type: ignore[misc]
        assert isinstance(said, ev.Candidate)
        results[name] = said.new
    host.stop()
    return results


@pytest.mark.parametrize("what", ["nothing", "little", "one port", "a server"])
def test_a_stage_can_do_what_it_needs_and_no_more(what: str, places: Places) -> None:
    allowed, more = {
        "nothing": (Needs(), ()),
        "little": (Needs("local", "itself", (str(places.writes),)), (_local, _python, _write)),
        "one port": (Needs(ports=(places.port,)), (_connect, _datagram, _local)),
        "a server": (Needs("any", "any"), (*NETWORK, _local, _python, _shell)),
    }[what]
    results = tried(places, allowed, set(ACTS))
    assert {name for name, said in results.items() if said == "done"} == {act.__name__ for act in (*ALWAYS, *more)}
    assert all("ermi" in said for said in results.values() if said != "done"), results


def test_without_needs_a_stage_may_do_what_its_user_may(places: Places) -> None:
    results = tried(places, None, {"_connect", "_home", "_key", "_shell"})
    assert set(results.values()) == {"done"}


def test_no_stage_that_holds_a_model_has_a_network_or_starts_programs_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PULSE_SERVER", raising=False)
    monkeypatch.setattr("predtui.runtime.needs.GPU", ())
    needed = needs()
    assert {needed[name].sockets for name in ("asr", "llm", "tts")} == {"none"}
    assert [needed[name].programs for name in ("asr", "llm", "tts")] == ["none", "itself", "none"]
    assert {needed[name].sockets for name in ("mic", "player")} == {"local"}
    monkeypatch.setenv("PULSE_SERVER", "tcp:studio:4713")
    assert {name for name, need in needs().items() if need.sockets == "any"} == {"mic", "player"}


def test_the_recogniser_keeps_checkpoints_where_it_may_write() -> None:
    from predtui.asr.whisperflow.files import FAST

    assert CONVERTED == FAST


def test_all_but_what_is_hidden_is_granted_once(tmp_path: Path) -> None:
    for path in ("a/secret/x", "a/b/c", "d", "a/s2"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "a" / "link").symlink_to(tmp_path / "a" / "secret")
    granted = list(landlock.all_but([str(tmp_path / "a" / "secret"), str(tmp_path / "a" / "s2")]))
    here = {path.removeprefix(f"{tmp_path}/") for path in granted if path.startswith(str(tmp_path))}
    assert here == {"a/b", "d"}
    assert not any(str(tmp_path).startswith(path + "/") for path in granted)
    assert list(landlock.all_but([])) == ["/"]


@pytest.mark.parametrize(
    ("found", "confined", "state", "says"),
    [
        (["Landlock 7", "seccomp"], True, "found", "Landlock 7 and seccomp: stages reach what they need"),
        (["seccomp"], True, "missing", "seccomp alone"),
        ([], True, "missing", "stages may do all that you may"),
        (["Landlock 7", "seccomp"], False, "missing", "switched off"),
    ],
)
def test_the_doctor_says_what_is_confined(
    found: list[str], confined: bool, state: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "means", lambda: found)
    (finding,) = machine.confinement(Settings(safety=SafetySettings(confined=confined)))
    assert finding.state == state
    assert says in finding.detail
    assert bool(finding.remedy) is (state == "missing")


def test_the_language_models_server_is_all_of_the_network_that_its_stage_may_reach() -> None:
    far = connected(needs()["llm"], LlmSettings(engine="remote", url="http://box:8080"))
    assert far is not None
    assert far.ports == (8080,)
    assert replace(far, ports=()) == needs()["llm"] == connected(far, LlmSettings())


@pytest.mark.parametrize(("allowed", "keys"), [(Needs(), {}), (Needs(ports=(80,)), {"PREDTUI_API_KEY": "secret"})])
def test_a_key_is_given_to_no_stage_that_may_not_reach_its_server(
    allowed: Needs, keys: dict[str, str], places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREDTUI_API_KEY", "secret")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    out = Collector()
    host = ProcessHost(StageSpec("toy", f"{__name__}:telling", None, needs=allowed), out.append, RealClock())
    host.start()
    host.send(ev.Transcript(turn=1, stable="keys", final=True))
    said = out.wait(lambda event: isinstance(event, ev.Candidate))
    host.stop()
    assert isinstance(said, ev.Candidate)
    assert said.new == repr(keys)


def telling(_options: None) -> Toy:
    """Says which keys it was given."""

    def handle(event: ev.Event, context: StageContext) -> Iterator[ev.Event]:
        yield ev.Candidate(new=repr({name: os.environ[name] for name in VARIABLES if name in os.environ}))

    return Toy(handler=handle)
