"""What was found out on this machine is remembered, and nothing that is wrong with the file is fatal."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.llamacpp.findings import Findings, digest, key_of, llama_build, processor

FINDINGS = Findings("tried.json")
circumstances = st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=4)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("predtui.llm.llamacpp.findings.cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_a_verdict_is_found_by_its_circumstances_and_replaces_an_older_one(folder: Path) -> None:
    assert FINDINGS.read() == {}
    for verdict in (1, 2):
        FINDINGS.write({"model": "one", "verdict": verdict})
    FINDINGS.write({"model": "two", "verdict": 3})
    assert [entry["verdict"] for entry in FINDINGS.read().values()] == [2, 3]
    assert FINDINGS.read()[key_of({"model": "one"})] == {"model": "one", "verdict": 2}
    assert [path.name for path in folder.iterdir()] == ["tried.json"]


def test_only_the_newest_are_kept() -> None:
    for number in range(120):
        FINDINGS.write({"model": str(number), "verdict": number})
    assert [entry["verdict"] for entry in FINDINGS.read().values()] == list(range(20, 120))


@pytest.mark.parametrize("content", ["", "[1]", "{", '"x"', "\xff"])
def test_a_damaged_file_is_no_findings_and_is_written_anew(folder: Path, content: str) -> None:
    folder.mkdir()
    (folder / "tried.json").write_bytes(content.encode("latin-1"))
    assert FINDINGS.read() == {}
    FINDINGS.write({"model": "one", "verdict": 1})
    assert len(FINDINGS.read()) == 1


def test_entries_that_make_no_sense_are_passed_over(folder: Path) -> None:
    folder.mkdir()
    (folder / "tried.json").write_text(json.dumps({"a": 1, "b": {"verdict": 2}}))
    assert FINDINGS.read() == {"b": {"verdict": 2}}


def test_a_folder_that_cannot_be_written_is_logged_and_no_more(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder.write_text("a file, not a folder")
    with caplog.at_level(logging.WARNING):
        FINDINGS.write({"model": "one", "verdict": 1})
    assert "not remembered" in caplog.text
    assert "[Errno" not in caplog.text
    assert FINDINGS.read() == {}


@given(circumstances, circumstances)
def test_a_key_is_of_the_circumstances_whatever_their_order(one: dict[str, str], other: dict[str, str]) -> None:
    assert key_of(dict(reversed(one.items()))) == key_of(one)
    assert (key_of(one) == key_of(other)) == (one == other)


def test_this_machine_is_described_the_same_each_time() -> None:
    assert llama_build() == llama_build()
    assert processor() == processor()
    assert digest("a") != digest("b")
