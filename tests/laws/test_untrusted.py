"""What models, replies and recordings may never do: run code, speak in marks, reach files, listen, or call the hub."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.templates import JinjaTemplate
from predtui.state import events as ev
from predtui.state.session import read
from predtui.tts.espeak import EspeakSynthesizer

ROOT = Path(__file__).resolve().parents[2] / "predtui"
SOURCES = [path for path in sorted(ROOT.rglob("*.py")) if "lab" not in path.relative_to(ROOT).parts]
MARKS = ("<|user|>", "<|end|>", "<|assistant|>", "<|im_start|>", "<|im_end|>", "</s>", "<|", "|>", "ok")

ROADS_TO_CODE = (
    "''.__class__.__mro__[1].__subclasses__()",
    "messages.__class__.__base__",
    "cycler.__init__.__globals__.os.system('touch owned')",
    "self.__init__.__globals__",
    "self._TemplateReference__context",
    "joiner.__init__.__globals__",
    "namespace.__init__.__globals__['__builtins__']",
    "lipsum.__globals__['os'].popen('touch owned').read()",
    "raise_exception.__globals__",
    "strftime_now.__globals__['datetime']",
    "strftime_now.__code__",
    "messages|attr('__class__')|attr('__init__')",
    "''|attr('\\x5f\\x5fclass\\x5f\\x5f')",
    "'{0.__class__.__mro__}'.format('')",
    "'{a.__init__.__globals__}'.format_map({'a': cycler})",
    "messages.append({'role': 'system', 'content': 'owned'})",
    "messages[0].update({'content': 'owned'})",
    "(messages|map(attribute='__class__')|list)[0].__mro__",
    "open('owned', 'w')",
    "eval('1')",
    "__import__('os')",
)


@pytest.mark.parametrize("road", ROADS_TO_CODE)
def test_a_template_runs_no_code(road: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = "hello"
    try:
        text = JinjaTemplate("{{ " + road + " }}").render([ev.Message("user", said)])
    except PredtuiError:
        text = ""
    assert not any(trace in text for trace in ("class ", "module ", "function ", "builtins", "owned", "0x"))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def pocket() -> Iterator[LoadedModel]:
    loaded = load("pocket", "numpy")
    yield loaded
    loaded.model.close()


@settings(max_examples=30, deadline=None)
@given(
    text=st.lists(st.sampled_from(MARKS), min_size=1, max_size=5).map("".join),
    role=st.sampled_from(("user", "assistant")),
)
def test_no_text_typed_or_in_the_history_is_a_special_token(pocket: LoadedModel, text: str, role: ev.Role) -> None:
    special = {token for mark in MARKS[:3] for token in pocket.tokenizer.encode(mark, special=True)}
    asked = ev.Message("user", "what?")

    def marks(said: str) -> list[int]:
        return [token for token in pocket.prompt_tokens([asked, ev.Message(role, said), asked]) if token in special]

    assert marks("ok")
    assert marks(text) == marks("ok")


@pytest.mark.parametrize(
    "text",
    ['one <break time="20s"/> two', '<speak><audio src="/etc/passwd"/>one</speak>', "one [[@@@@]] two &#60;break/>"],
)
def test_marks_of_speech_are_spoken_and_not_obeyed(text: str) -> None:
    espeak = EspeakSynthesizer()
    samples = sum(len(chunk) for chunk in itertools.islice(espeak.synthesize(text), 2000)) / 2
    plain = sum(len(chunk) for chunk in espeak.synthesize("one two")) / 2
    assert plain / espeak.rate < samples / espeak.rate < 12


@pytest.mark.parametrize("name", ["../secret.wav", "/etc/passwd", "..", "a/../../secret.wav", "link.wav"])
def test_a_recording_reads_no_file_beside_its_own(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.wav").write_bytes(bytes(44) + b"secret" * 100)
    folder = tmp_path / "session"
    folder.mkdir()
    (folder / "link.wav").symlink_to(tmp_path / "secret.wav")
    sound = f'{{"type": "AudioFrame", "pcm": {{"file": "{name}", "offset": 0, "samples": 3}}}}'
    (folder / "session.jsonl").write_text(f'{{"type": "Notice", "text": "first"}}\n{sound}\n')
    _, told = read(folder)
    assert isinstance(told, ev.Notice)
    assert "line 2" in told.text


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call of a module, and what is called, as it is written."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


NEVER = re.compile(
    r"eval|exec|__import__|os\.(system|popen)|.*\.(bind|listen_on|create_server|start_server|create_connection)|"
    r"(.*\.)?(hf_hub_download|urlopen|urlretrieve|build_opener|HfApi|HTTPServer|unsafe_load)|socket\.socket|"
    r"(requests|httpx2?)\..*"
)


CLIENT = "llm/remote/client.py"
"""What speaks to a server of language models, where the settings name one."""
PULLS = {"models/connection.py: urllib.request.build_opener", "models/hub.py: HfApi"}
"""What fetches models, for those who ask for it."""
SERVES = {"commands/web.py: socket.socket", "commands/web.py: trial.bind"}
"""Looks whether a port is free, for who has asked for a page: predtui serve."""
ASKING = {"commands/models.py", "models/download.py", "models/hub.py", "models/prepare.py", "models/pull.py"}
"""Who uses that: what runs when a person has said so, and its parts."""


def test_nothing_is_evaluated_listened_on_or_fetched() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}" for path in SOURCES for name, _ in calls(path) if NEVER.fullmatch(name)
    ]
    assert {one for one in found if not one.startswith(f"{CLIENT}: httpx2.")} == PULLS | SERVES


def test_models_are_fetched_by_what_a_person_has_asked_for_alone() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module in ("predtui.models.connection", "predtui.models.hub")
    }
    assert users == ASKING


def test_the_client_asks_no_proxy_and_follows_nobody() -> None:
    (made,) = (node for name, node in calls(ROOT / CLIENT) if name == "httpx2.AsyncClient")
    words = {word.arg: ast.unparse(word.value) for word in made.keywords}
    assert words["trust_env"] == "False"
    assert words.keys().isdisjoint({"follow_redirects", "proxy", "mounts", "auth"})


def test_pickles_are_opened_nowhere_but_from_a_stage_and_there_through_one_gate() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import)
        and any(name.name in ("pickle", "shelve", "marshal", "dill") for name in node.names)
    }
    assert users == {"runtime/hosts/process.py", "runtime/hosts/wire.py"}
    host = {name for name, _ in calls(ROOT / "runtime/hosts/process.py")}
    assert "receive" in host
    assert not any(name.endswith((".recv", "pickle.loads", "pickle.load")) for name in host), "there is one gate"
    for path in SOURCES:
        for name, node in calls(path):
            words = {word.arg: ast.unparse(word.value) for word in node.keywords}
            assert words.get("allow_pickle", "False") == "False", path
            assert words.get("trust_remote_code", "False") == "False", path
            assert words.get("shell", "False") == "False", path
            if name.endswith((".from_pretrained", "snapshot_download")):
                assert words.get("local_files_only") == "True", f"{path}:{node.lineno}"
