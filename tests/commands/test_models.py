"""``predtui models``: what is here, what there is, and getting it from a hub of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from predtui.commands import models as command
from predtui.commands.cli import app
from predtui.errors import PredtuiError
from predtui.models.curated import proposals
from predtui.models.places import hugging_face
from tests import tiny_gguf
from tests.models.homes import alone, cached, in_ollama, write
from tests.models.hub import HubServer, serving
from tests.models.test_hub import online


@pytest.fixture(scope="module")
def running() -> Iterator[HubServer]:
    with serving() as hub:
        yield hub


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model that can be talked with."""
    return tiny_gguf.write(tmp_path_factory.mktemp("tiny") / "tiny.gguf").read_bytes()


@pytest.fixture(autouse=True)
def server(running: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, weights: bytes) -> HubServer:
    alone(monkeypatch, tmp_path / "home")
    monkeypatch.setenv("PREDTUI_CONFIG_DIR", str(tmp_path / "config"))
    online(monkeypatch)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", running.address)
    running.reset()
    running.repositories["a/m"] = {"m-Q8_0.gguf": weights}
    return running


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["models", *arguments])


def refused(*arguments: str) -> str:
    done = run(*arguments)
    assert isinstance(done.exception, PredtuiError), done.output
    return str(done.exception)


def test_a_model_is_pulled_listed_found_and_removed(server: HubServer, tmp_path: Path) -> None:
    done = run("pull", "a/m", "--yes")
    assert done.exit_code == 0, done.output
    assert "licence: apache-2.0" in done.output
    assert "Try it: predtui --model a/m:Q8_0" in done.output
    path = tmp_path / "home" / "own" / "a" / "m" / "m-Q8_0.gguf"
    assert run("where", "a/m").output.strip() == str(path)
    assert str(path) in run("list").output
    assert "here already" in run("pull", "a/m").output
    assert "Removed." in run("remove", "a/m", "--yes").output
    assert not path.exists()
    assert "predtui models pull a/m" in refused("where", "a/m")


def test_without_a_yes_nothing_is_fetched_and_nothing_is_removed(server: HubServer, tmp_path: Path) -> None:
    assert refused("pull", "a/m") == "Nothing is fetched without a yes. Say it with --yes."
    assert not any("resolve" in path for path, _, _ in server.asked)
    path = write(tmp_path / "home" / "own" / "a" / "x" / "x.gguf")
    assert "without a yes" in refused("remove", "a/x")
    assert refused("remove", "").startswith("'' is not among the models")
    assert path.exists()


@pytest.mark.parametrize(("answer", "fetched"), [("y", True), ("n", False), ("", False)])
def test_a_person_is_asked(
    answer: str, fetched: bool, server: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "_answers", lambda: True)
    done = CliRunner().invoke(app, ["models", "pull", "a/m"], input=f"{answer}\n")
    assert "Fetch " in done.output
    assert (tmp_path / "home" / "own" / "a" / "m" / "m-Q8_0.gguf").exists() == fetched
    assert done.exit_code == (0 if fetched else 1)


def test_interrupted_it_says_that_what_has_come_is_kept(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command._Shown, "report", interrupt)
    done = run("pull", "a/m", "--yes")
    assert done.exit_code == 130
    assert "goes on from there" in done.output


def test_offline_nobody_is_asked(server: HubServer) -> None:
    for arguments in (("pull", "a/m", "--yes"), ("search", "m")):
        assert "--offline forbids it" in refused(*arguments, "--offline")
    assert server.asked == []
    for arguments in (("list",), ("where",)):
        assert run(*arguments).exit_code == 0
    assert server.asked == []


def test_the_hub_is_searched(server: HubServer) -> None:
    server.about["gated"] = "auto"
    done = run("search", "small", "m")
    assert "a/m" in done.output
    assert "apache-2.0, gated" in done.output
    assert "small" in server.asked[0][0]
    server.repositories.clear()
    assert "There is none" in run("search", "m").output


def test_the_list_tells_what_is_here_by_where_and_what_there_is(tmp_path: Path, weights: bytes) -> None:
    cached(hugging_face(), "a/m", {"m-Q8_0.gguf": weights})
    in_ollama(tmp_path / "home" / ".ollama" / "models", content=weights)
    lines = run("list").output.splitlines()
    assert lines.index("Hugging Face:") < lines.index("Ollama:")
    assert any(line.split()[-2:] == ["Q8_0", "a/m:Q8_0"] for line in lines)
    assert any(line.split()[-2:] == ["Q4_K_M", "ollama:qwen3:8b"] for line in lines)
    assert all(any(name in line.split() for line in lines) for name in proposals())


def test_a_model_of_another_program_is_planned_by_its_name(tmp_path: Path, weights: bytes) -> None:
    in_ollama(tmp_path / "home" / ".ollama" / "models", content=weights)
    assert run("plan", "ollama:qwen3:8b").exit_code == 0
    assert "ollama pull none" in refused("plan", "ollama:none")


def test_where_names_every_place(tmp_path: Path) -> None:
    said = run("where").output
    for place in ("own", ".cache/huggingface/hub", ".ollama/models", ".lmstudio/models"):
        assert str(tmp_path / "home" / place) in said


def test_what_lies_elsewhere_is_taken_in(tmp_path: Path, weights: bytes) -> None:
    path = write(tmp_path / "down" / "nice-Q8_0.gguf", weights)
    done = run("import", str(path))
    assert "predtui --model imported/nice-Q8_0" in done.output, done.output
    assert run("where", "imported/nice-Q8_0").exit_code == 0
    path.unlink()
    write(path, weights[:100])
    assert "damaged" in refused("import", str(path))
    assert "none.gguf does not exist" in refused("import", str(tmp_path / "none.gguf"))


def test_what_cannot_be_talked_with_is_not_kept(server: HubServer, tmp_path: Path, weights: bytes) -> None:
    server.repositories["a/m"] = {"m-Q8_0.gguf": weights[:100]}
    assert "damaged" in refused("pull", "a/m", "--yes")
    assert not (tmp_path / "home" / "own" / "a").exists()


def test_a_proposal_is_pulled_by_its_name(server: HubServer, weights: bytes) -> None:
    name, proposal = next(iter(proposals().items()))
    repository, _, quant = proposal.source.partition(":")
    server.repositories[repository] = {f"x-{quant}.gguf": weights}
    done = run("pull", name, "--yes")
    assert f"Try it: predtui --model {name}" in done.output, done.output
    assert run("where", name).exit_code == 0
    assert any("●" in line and name in line for line in run("list").output.splitlines())


def test_a_name_that_commands_a_terminal_is_listed_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "own"
    monkeypatch.setenv("PREDTUI_LLM_FOLDER", str(folder))
    for name in ("new\nline.gguf", "red\x1b[31m.gguf", "plain.gguf"):
        write(folder / name)
    done = run("list")
    rows = [line for line in done.output.splitlines() if str(folder) in line]
    assert len(rows) == 3
    assert all(row.endswith(".gguf") for row in rows)
    assert "\x1b" not in done.output


def test_what_drafts_have_learnt_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path))
    assert "Nothing was learnt." in run("forget").output
    (tmp_path / "learnt").mkdir()
    for name in ("a.safetensors", "b.safetensors.damaged", "other.txt"):
        (tmp_path / "learnt" / name).touch()
    assert "Forgotten: 2 files" in run("forget").output
    assert [path.name for path in (tmp_path / "learnt").iterdir()] == ["other.txt"]
