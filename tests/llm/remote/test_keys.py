"""Where keys come from, to whom they go, and that nothing that is written holds one."""

from __future__ import annotations

import importlib.util
import io
import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from predtui.errors import PredtuiError
from predtui.llm.remote import keys
from predtui.llm.remote.address import Address
from predtui.llm.remote.client import Link
from predtui.llm.remote.keys import OPENAI, VARIABLE, key_for
from tests.llm.remote.fake import Events, Status, serving
from tests.llm.remote.imitations import llama_server

SECRET = "sk-never-to-be-seen-0123456789"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in keys.VARIABLES:
        monkeypatch.delenv(variable, raising=False)


def test_a_key_of_openai_goes_to_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv(OPENAI, SECRET)
    assert key_for("https://api.openai.com") == SECRET
    assert key_for("https://openai.com.evil.example") == key_for("http://127.0.0.1:8080") == ""
    monkeypatch.setenv(VARIABLE, "another")
    assert key_for("https://api.openai.com") == key_for("http://127.0.0.1:8080") == "another"


def test_a_keyring_that_is_installed_is_asked_by_host(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = ModuleType("keyring")
    kept = {("predtui", "box"): SECRET}
    ring.get_password = lambda service, host: kept.get((service, host))  # type: ignore[attr-defined]
    ring.__spec__ = importlib.util.spec_from_loader("keyring", None)
    monkeypatch.setitem(sys.modules, "keyring", ring)
    assert key_for("http://box:8080") == SECRET
    assert key_for("http://other:8080") == ""
    ring.get_password = lambda *_: 1 / 0  # type: ignore[attr-defined]
    assert key_for("http://box:8080") == "", "a keyring that is locked keeps no key for us"


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        Status(401, {"error": {"message": f"Incorrect API key provided: {SECRET}"}}),
        Status(500, f"Traceback: Bearer {SECRET}"),
        Status(302, "", {"location": f"http://elsewhere/?key={SECRET}"}),
        Events([{"error": {"message": f"key {SECRET} is exhausted"}}]),
    ],
)
def test_nothing_that_is_written_holds_the_key(answer: object, capfd: pytest.CaptureFixture[str]) -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    logging.getLogger().addHandler(handler)
    told = ""
    try:
        with serving({"/x": answer}) as server:
            link = Link(Address(server.url), SECRET)
            try:
                list(link.stream("/x", {})) if isinstance(answer, Events) else link.ask("/x")
            except PredtuiError as error:
                told = f"{error} {error!r} {error.__cause__!r}"
            link.close()
        assert [headers["Authorization"] for _, _, headers in server.asked] == [f"Bearer {SECRET}"]
    finally:
        logging.getLogger().removeHandler(handler)
    assert SECRET not in written.getvalue() + told + "".join(capfd.readouterr())


def test_a_key_is_not_taken_from_a_command_line_or_a_settings_file() -> None:
    from predtui.settings import options

    assert not [key for key in options() if re.search(r"key|token(?!s)|secret", key)]


def test_a_turn_that_is_recorded_writes_the_key_nowhere(tmp_path: Path) -> None:
    """Nor does the log, of which a server's words are part."""
    routes = dict(llama_server(3))
    met: list[object] = []

    def sometimes(body: object) -> object:
        """Refused once, but for the first: some are given up before their refusal is read, the last is not."""
        if met and body not in met:
            met.append(body)
            return Status(503, {"error": {"message": f"no room for {SECRET}"}})
        met.append(body)
        return routes["/completion"](body)  # type: ignore[operator]

    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREDTUI_")}
    places = {f"PREDTUI_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE", "CACHE")}
    quiet = {"PREDTUI_AUDIO_OUTPUT": "none", "PREDTUI_TTS_ENGINE": "none", "PREDTUI_LLM_BASELINE": "false"}
    short = {"PREDTUI_LLM_REPLY_TOKENS": "24", "PREDTUI_LLM_CONTINUATIONS": "0"}
    with serving({**routes, "/completion": sometimes}) as server:
        options = ("--engine", "remote", "--url", server.url, "--text", "hi there", "--cps", "99", "--json")
        done = subprocess.run(
            [sys.executable, "-m", "predtui", "turn", *options, "--record", str(tmp_path / "recorded")],
            env=kept | places | quiet | short | {VARIABLE: SECRET},
            capture_output=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert {headers.get("Authorization") for _, _, headers in server.asked} == {f"Bearer {SECRET}"}
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"session.jsonl", "predtui.log"} <= {path.name for path in written}
    assert "It is asked again" in (tmp_path / "STATE" / "predtui.log").read_text()
    for text in (done.stdout, done.stderr, *(path.read_bytes() for path in written)):
        assert SECRET.encode() not in text
