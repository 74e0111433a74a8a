"""A pull has a whole model or none, and fetches nothing but weights and what belongs to them."""

from __future__ import annotations

import itertools
import json
import os
import random
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.models.hub import Hub
from predtui.models.names import parse
from predtui.models.places import INCOMING, find, pulled
from predtui.models.pull import Offer, Pull, offer_of
from predtui.settings import models_folder
from tests.models.homes import alone
from tests.models.hub import ANSWERS, BODIES, HubServer, serving
from tests.models.test_download import Hasty
from tests.models.test_hub import online

EXAMPLES = int(os.environ.get("HUB_FAULTS", "20"))
"""Random histories of faults. Two hundred: HUB_FAULTS=200 pytest tests/models/test_pull.py -k faults"""
_FOLDERS = itertools.count()
SPLIT = {f"Q8_0/m-Q8_0-0000{number}-of-00003.gguf": b"GGUF" + bytes([number]) * 9000 for number in (1, 2, 3)}
WHOLE = {"m-Q4_K_M.gguf": b"GGUF" + random.Random(1).randbytes(50_000)}
FILES = {**WHOLE, **SPLIT, "README.md": b"#", "mmproj-F16.gguf": b"GGUF"}
TENSORS = (2).to_bytes(8, "little") + b"{}" + random.Random(2).randbytes(20_000)
FOLDER = {
    "config.json": b'{"architectures": ["LlamaForCausalLM"]}', "model.safetensors": TENSORS, "tokenizer.json": b"{}",
    "pytorch_model.bin": b"\x80\x02", "modeling_evil.py": b"import os", "chat_template.jinja": b"{{ messages }}",
    "onnx/model.onnx": b"?",
}  # fmt: skip


@pytest.fixture(scope="module")
def running() -> Iterator[HubServer]:
    with serving() as hub:
        yield hub


@pytest.fixture
def server(running: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> HubServer:
    alone(monkeypatch, tmp_path / "home")
    online(monkeypatch)
    running.reset()
    running.repositories.update({"a/m": dict(FILES), "a/f": dict(FOLDER)})
    return running


def offered(server: HubServer, text: str, sha256: str = "") -> Offer:
    return offer_of(text, lambda: Hub(server.address, wait=lambda seconds: None), Hasty(), sha256)


def pull(server: HubServer, text: str, sha256: str = "") -> bool:
    return Pull(offered(server, text, sha256), Hasty()).run(lambda progress: None)


def held() -> dict[str, bytes]:
    """What names can find: everything but what is still coming, and the record of it."""
    root = models_folder()
    files = (path for path in root.rglob("*") if path.is_file() and INCOMING not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in files if path.name != ".digests.json"}


def test_the_quantisation_that_is_named_and_nothing_else(server: HubServer) -> None:
    assert pull(server, "a/m")
    assert held() == {"a/m/m-Q4_K_M.gguf": FILES["m-Q4_K_M.gguf"]}
    assert find("a/m") == models_folder() / "a" / "m" / "m-Q4_K_M.gguf"
    assert pull(server, "a/m:Q8_0")
    assert find("a/m:Q8_0") == models_folder() / "a" / "m" / "Q8_0" / "m-Q8_0-00001-of-00003.gguf"
    assert len(held()) == 4
    assert {path.name for path in (models_folder() / INCOMING).iterdir()} <= {"lock"}


def test_of_a_folder_weights_and_data_alone(server: HubServer) -> None:
    assert pull(server, "a/f")
    assert set(held()) == {f"a/f/{name}" for name in FOLDER if not name.endswith((".bin", ".py", ".onnx"))}
    assert pulled("a/f") == find("a/f", "folder") == models_folder() / "a" / "f"
    assert not any("pytorch_model" in path or "evil" in path for path, _, _ in server.asked)


def test_what_is_here_is_not_fetched_again_unless_it_has_changed(server: HubServer) -> None:
    pull(server, "a/f")
    assert offered(server, "a/f").files == ()
    changed = FOLDER["tokenizer.json"][::-1]
    server.repositories["a/f"]["tokenizer.json"] = changed
    assert [file.path.name for file in offered(server, "a/f").files] == ["tokenizer.json"]
    assert pull(server, "a/f")
    assert held()["a/f/tokenizer.json"] == changed


def test_an_offer_tells_what_it_costs(server: HubServer) -> None:
    server.about["gated"] = "auto"
    offer = offered(server, f"https://huggingface.co/a/m/resolve/main/{next(iter(SPLIT))}")
    assert (offer.model, offer.licence, offer.gated, offer.checked) == ("a/m:Q8_0", "apache-2.0", True, True)
    assert offer.size == sum(map(len, SPLIT.values()))
    assert len(offer.files) == 3


def test_a_recogniser_of_ctranslate2_comes_and_a_pickle_by_its_name_does_not(server: HubServer) -> None:
    good = {"model.bin": (6).to_bytes(4, "little") + b"weights", "config.json": b"{}", "vocabulary.txt": b"a"}
    server.repositories |= {"a/w": good, "a/p": {**good, "model.bin": b"\x80\x02}q\x00."}}
    assert pull(server, "a/w")
    with pytest.raises(PredtuiError, match=r"model.bin is not what its name says, and is not kept"):
        pull(server, "a/p")
    assert {name.split("/")[1] for name in held()} == {"w"}


@pytest.mark.parametrize(
    ("text", "files", "task", "said"),
    [
        ("a/x:Q2_K", {"x-Q8_0.gguf": b"GGUF", "x-F16.gguf": b"GGUF"}, "", r"has no Q2_K. It has F16, Q8_0."),
        ("a/x", {"mmproj-x-F16.gguf": b"GGUF"}, "", "vision projector"),
        ("a/x", {"x-Q8_0.gguf": b"GGUF"}, "feature-extraction", "turns texts into vectors, and does not talk"),
        ("a/x", {"pytorch_model.bin": b"?", "config.json": b"{}"}, "", "pickles .pytorch_model.bin., which can run"),
        ("a/x", {"README.md": b"#"}, "", "holds no GGUF and no safetensors"),
        ("a/x:Q8_0", FOLDER, "", "holds no GGUF files. Leave :Q8_0 out"),
        ("a/x", {"x-00001-of-00002.gguf": b"GGUF"}, "", "lacks x-00002-of-00002.gguf"),
        ("ollama:qwen3", {}, "", "Get it by Ollama: ollama pull qwen3"),
        ("lmstudio:a/x", {}, "", "predtui models pull a/x"),
        ("nothing", {}, "", "OWNER/NAME"),
        ("https://huggingface.co/a/x/blob/main/model.py", {"model.py": b"x"}, "", "no language model of a/x"),
    ],
)
def test_what_is_not_to_be_had_is_told_and_nothing_is_fetched(
    text: str, files: dict[str, bytes], task: str, said: str, server: HubServer
) -> None:
    server.repositories["a/x"] = dict(files)
    server.about["pipeline_tag"] = task
    with pytest.raises(PredtuiError, match=said) as raised:
        offered(server, text)
    assert raised.value.remedy
    assert not any("resolve" in path for path, _, _ in server.asked)


def test_a_name_that_leads_elsewhere_is_no_file(server: HubServer, tmp_path: Path) -> None:
    server.answers.append("evil names")
    with pytest.raises(PredtuiError, match="holds no GGUF"):
        pull(server, "a/m")
    assert held() == {}


def test_by_address_with_its_digest_or_without(server: HubServer) -> None:
    data = FILES["m-Q4_K_M.gguf"]
    address = f"{server.address}/cdn/a/m/m-Q4_K_M.gguf"
    assert not offered(server, address).checked
    assert pull(server, address)
    assert find(address).read_bytes() == data
    assert offered(server, address).files == ()
    server.bodies.extend([("", 0.0), ("wrong bytes", 0.5), ("wrong bytes", 0.5)])
    with pytest.raises(PredtuiError, match="sent other bytes than were promised: nothing of it is kept"):
        pull(server, address, "0" * 64)
    others = {f"{address}.bin": "not the address of a .gguf file", "http://127.0.0.1:9/y.gguf": "cannot be reached"}
    for wrong, said in others.items():
        with pytest.raises(PredtuiError, match=said):
            offered(server, wrong)
    with pytest.raises(PredtuiError, match="64 hexadecimal digits"):
        offered(server, address, "abc")


def test_what_is_no_model_is_not_kept(server: HubServer) -> None:
    server.repositories["a/x"] = {"x-Q8_0.gguf": b"<html>sorry"}
    with pytest.raises(PredtuiError, match="is not what its name says"):
        pull(server, "a/x")

    def refuse(path: Path) -> None:
        raise PredtuiError(f"{path.name} makes embeddings.")

    with pytest.raises(PredtuiError, match=r"m-Q4_K_M.gguf makes embeddings"):
        Pull(offered(server, "a/m"), Hasty()).run(lambda progress: None, refuse)
    assert held() == {}
    assert pull(server, "a/m")


def test_two_at_a_time_do_not_write_the_same_file(server: HubServer) -> None:
    (models_folder() / INCOMING).mkdir(parents=True)
    with FileLock(str(models_folder() / INCOMING / "lock")), pytest.raises(PredtuiError, match="Another predtui"):
        pull(server, "a/m")
    assert pull(server, "a/m")


def test_cancelled_nothing_can_be_found_and_the_next_one_goes_on(server: HubServer) -> None:
    server.bodies.append(("cut", 0.5))
    fetch = Pull(offered(server, "a/m"), Hasty())
    assert not fetch.run(lambda progress: fetch.cancel())
    assert held() == {}
    server.asked.clear()
    assert pull(server, "a/m")
    assert any(asked.startswith("bytes=") for _, asked, _ in server.asked)


QUICK = ["", "", *(one for one in BODIES if one != "stall")]


def is_a_line(act: Callable[[], object]) -> bool:
    """Whether it does what it should, or says in one line why not and what to do."""
    try:
        return bool(act())
    except PredtuiError as error:
        return bool(error.remedy) and "\n" not in str(error)


HISTORY = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["", *ANSWERS]), max_size=3),
        st.lists(st.tuples(st.sampled_from(QUICK), st.floats(0, 1)), max_size=8),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(HISTORY, st.sampled_from(["a/m", "a/m:Q8_0", "a/f"]))
def test_no_faults_of_a_hub_leave_a_wrong_file_or_a_traceback(
    server: HubServer, history: list[tuple[list[str], list[tuple[str, float]]]], text: str
) -> None:
    """One pull after the other, each through faults of its own: each has the model or is a line, whatever can be found
    is what was promised, and the last one, without faults, has it."""
    os.environ["PREDTUI_MODELS_DIR"] = str(Path(os.environ["HOME"]) / f"own{next(_FOLDERS)}")
    promised = server.repositories[parse(text).repository]
    for answers, bodies in history:
        server.answers, server.bodies = deque(answers), deque(bodies)
        assert is_a_line(lambda: pull(server, text))
        assert all(promised[name.split("/", 2)[2]] == data for name, data in held().items())
    server.answers.clear()
    server.bodies.clear()
    assert pull(server, text)
    assert find(text, "folder" if text == "a/f" else "gguf").exists()
    assert held()
    record = models_folder() / parse(text).repository / ".digests.json"
    assert set(json.loads(record.read_text())) == {name.split("/", 2)[2] for name in held()}
