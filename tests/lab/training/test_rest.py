from __future__ import annotations

import os
from pathlib import Path

import pytest

from predtui.decoding.datastore import GAP
from predtui.errors import PredtuiError
from predtui.lab.training import rest
from predtui.llm.load import load


def texts(corpus: str, limit: int = 3) -> list[str]:
    target = load("3", "scripted")
    found: list[list[int]] = [[]]
    for token in rest.build([corpus], target, limit).tokens.tolist():
        if token == GAP:
            found.append([])
        else:
            found[-1].append(token)
    return [target.tokenizer.decode(tokens) for tokens in found[:-1]]


def test_documents_of_a_text_stand_between_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("one two\nthree\n\n\nfour\n")
    assert texts(str(path)) == ["one two?three", "four"]


def test_each_line_of_a_jsonl_file_is_a_document(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(
        '{"text": "one"}\n\n{"turns": ["two", "three"]}\n'
        '{"messages": [{"role": "user", "content": "four"}, {"role": "assistant", "content": "five"}]}\n'
    )
    assert texts(str(path)) == ["one", "two?three", "fourfive"]


def test_the_pocket_corpus_gives_as_many_dialogues_as_are_asked_for() -> None:
    assert len(texts("pocket", limit=5)) == 5
    assert texts("pocket", limit=5)[:2] == texts("pocket", limit=2)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match=r"gone\.txt"):
        texts(str(tmp_path / "gone.txt"))
    path = tmp_path / "bad.jsonl"
    for line in ("{", '{"other": 1}', "[]", '{"messages": [1]}'):
        path.write_text('{"text": "fine"}\n' + line)
        with pytest.raises(PredtuiError, match="line 2"):
            texts(str(path))


def test_a_corpus_that_is_a_pipe_is_refused_without_a_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PredtuiError, match="a named pipe, not a file"):
        texts(str(tmp_path / "pipe"))
