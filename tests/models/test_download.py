"""Files come whole and checked, or not at all; what has come is gone on with."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from predtui.errors import PredtuiError
from predtui.models.connection import Client
from predtui.models.download import PATIENCE, Download, Pace, Progress, Wanted
from tests.models.hub import BODIES, COMMIT, HubServer, serving

DATA = b"GGUF" + random.Random(0).randbytes(60_000)


class Hasty(Client):
    """Does not wait between tries."""

    def wait(self, cancelled: threading.Event, seconds: float) -> None:
        """Not at all."""


@pytest.fixture(scope="module")
def running() -> Iterator[HubServer]:
    with serving() as hub:
        yield hub


@pytest.fixture
def hub(running: HubServer) -> HubServer:
    running.reset()
    running.repositories["a/b"] = {"x.gguf": DATA}
    return running


def wanted(hub: HubServer, folder: Path, data: bytes = DATA, **changes: Any) -> Wanted:
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    chosen = {"size": len(data), "digest": digest, **changes}
    return Wanted(f"{hub.address}/a/b/resolve/{COMMIT}/x.gguf", folder / "x.gguf", **chosen)


def fetch(file: Wanted, timeout: float = 20.0) -> bool:
    return Download([file], Hasty(timeout)).run(lambda progress: None)


def test_a_file_comes_over_a_redirect_and_nothing_is_left_beside_it(hub: HubServer, tmp_path: Path) -> None:
    told: list[Progress] = []
    assert Download([wanted(hub, tmp_path / "new")], Hasty()).run(told.append)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["x.gguf"]
    assert (tmp_path / "new" / "x.gguf").read_bytes() == DATA
    done = [progress.done for progress in told]
    assert done == sorted(done)
    assert (done[-1], told[-1].total) == (len(DATA), len(DATA))


@pytest.mark.parametrize("fault", BODIES)
def test_whatever_goes_wrong_once_is_mended_or_told(fault: str, hub: HubServer, tmp_path: Path) -> None:
    hub.bodies.extend([("cut", 0.4), (fault, 0.5)])
    file = wanted(hub, tmp_path)
    final = fault in ("401", "403", "404", "410", "418", "elsewhere", "file scheme")
    if final:
        with pytest.raises(PredtuiError, match=r"^[^\n]+$") as raised:
            fetch(file)
        assert raised.value.remedy
        assert not file.path.exists()
    assert fetch(file, 0.2 if fault == "stall" else 20.0)
    assert file.path.read_bytes() == DATA
    assert [path.name for path in tmp_path.iterdir()] == ["x.gguf"]


@pytest.mark.parametrize("fault", BODIES)
def test_what_goes_wrong_for_ever_is_given_up_and_nothing_wrong_is_kept(
    fault: str, hub: HubServer, tmp_path: Path
) -> None:
    hub.bodies.extend([(fault, 0.0)] * 300)
    file = wanted(hub, tmp_path)
    if fault in ("whole", "chunked", "no length", "other part", "huge length"):  # of no request but one for a part
        assert fetch(file)
        return
    with pytest.raises(PredtuiError) as raised:
        fetch(file, 0.1 if fault == "stall" else 20.0)
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_what_has_come_is_gone_on_with(hub: HubServer, tmp_path: Path) -> None:
    hub.bodies.append(("cut", 0.5))
    hub.bodies.extend([("503", 0.0)] * PATIENCE)
    file = wanted(hub, tmp_path)
    with pytest.raises(PredtuiError, match=r"is in trouble .503.*the same command goes on from there"):
        fetch(file)
    assert 0 < file.part.stat().st_size < len(DATA)
    hub.asked.clear()
    assert fetch(file)
    assert hub.asked[0][1] == f"bytes={len(DATA) // 2}-"
    assert file.path.read_bytes() == DATA


def test_another_version_of_it_begins_anew(hub: HubServer, tmp_path: Path) -> None:
    file, other = wanted(hub, tmp_path), wanted(hub, tmp_path, DATA[::-1])
    assert file.part != other.part
    file.part.write_bytes(DATA[: len(DATA) // 2])
    hub.repositories["a/b"]["x.gguf"] = DATA[::-1]
    assert fetch(other)
    assert file.path.read_bytes() == DATA[::-1]


def test_a_part_that_was_spoilt_is_thrown_away(hub: HubServer, tmp_path: Path) -> None:
    file = wanted(hub, tmp_path)
    file.part.write_bytes(b"?" * 1000)
    assert fetch(file)
    assert file.path.read_bytes() == DATA


def test_without_a_name_of_its_version_nothing_is_gone_on_with(hub: HubServer, tmp_path: Path) -> None:
    file = wanted(hub, tmp_path, digest="")
    file.part.write_bytes(b"?" * 1000)
    assert fetch(file)
    assert file.path.read_bytes() == DATA


def test_a_file_of_another_version_under_its_name_is_replaced(hub: HubServer, tmp_path: Path) -> None:
    file = wanted(hub, tmp_path)
    file.path.write_bytes(DATA[::-1])
    assert fetch(file)
    assert file.path.read_bytes() == DATA
    hub.asked.clear()
    assert fetch(file)
    assert hub.asked == []


def test_the_disk_is_looked_at_before(hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("predtui.models.download.shutil.disk_usage", lambda path: _Usage(64 << 20))
    with pytest.raises(PredtuiError, match=r"0 MB are to come, and 67 MB are free in .*PREDTUI_MODELS_DIR"):
        fetch(wanted(hub, tmp_path))
    assert hub.asked == []


class _Usage:
    def __init__(self, free: int) -> None:
        self.free = free


def test_a_folder_that_cannot_be_written_is_a_line(hub: HubServer, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(PredtuiError, match="taken cannot be written"):
        fetch(wanted(hub, tmp_path / "taken"))


def test_cancelled_it_keeps_what_has_come(hub: HubServer, tmp_path: Path) -> None:
    hub.bodies.append(("cut", 0.5))
    file = wanted(hub, tmp_path)
    download = Download([file], Hasty())
    assert not download.run(lambda progress: download.cancel())
    assert not file.path.exists()
    assert file.part.exists()
    assert fetch(file)


def test_interrupted_it_keeps_what_has_come(hub: HubServer, tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    file = wanted(hub, tmp_path)
    with pytest.raises(KeyboardInterrupt):
        Download([file], Hasty()).run(interrupt)
    assert file.part.stat().st_size > 0
    assert fetch(file)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://example.org/x.gguf", "only https is"),
        ("ftp://example.org/x.gguf", "only https is"),
        ("file:///etc/passwd", "no address of a file"),
        ("https://user:key@example.org/x", "no address of a file"),
        ("https:///x", "no address of a file"),
        ("http://[::1/x", "is no address"),
    ],
)
def test_only_https_is_fetched_and_http_on_this_machine(address: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match=said):
        fetch(Wanted(address, tmp_path / "x", 1))


def test_the_key_goes_to_the_hub_alone(hub: HubServer, tmp_path: Path) -> None:
    Download([wanted(hub, tmp_path)], Hasty(), lambda address: "secret").run(lambda progress: None)
    assert [(path.split("/")[1], key) for path, _, key in hub.asked] == [("a", "Bearer secret"), ("cdn", "")]


def test_the_speed_is_of_late() -> None:
    now = [0.0]
    pace = Pace(1000, lambda: now[0])
    pace.skip(100)
    for _ in range(30):
        now[0] += 1
        pace.add(10)
    assert pace.progress("x").done == 400
    assert pace.progress("x").speed == pytest.approx(10, rel=0.1)
    now[0] += 1
    pace.add(600)
    assert pace.progress("x").speed > 50
    assert str(Progress("x", 1_000_000, 61_000_000, 1e6)) == "x: 1 of 61 MB, 2%, 1.0 MB/s, 60 s left"
    assert str(Progress("x", 0, 10**10, 1e6)).endswith("1.0 MB/s, 2.8 h left")
