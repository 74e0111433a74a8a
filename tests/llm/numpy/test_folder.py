"""The tokenizer of a folder: what is half a character waits, and special tokens count only where they may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.llm.base import ModelRequest
from predtui.llm.numpy.folder import describe, load
from predtui.models.published import SMOLLM2
from predtui.models.shipped import POCKET_DRAFT
from tests import tiny_folder

TOKENIZER = load(ModelRequest(POCKET_DRAFT)).tokenizer


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="�"), max_size=12))
def test_a_text_grows_token_by_token_and_is_whole_in_the_end(text: str) -> None:
    tokens = TOKENIZER.encode(text)
    parts = [TOKENIZER.decode(tokens[:count]) for count in range(len(tokens) + 1)]
    assert all(text.startswith(part) for part in parts)
    assert parts[-1] == text


def test_a_special_token_is_one_only_where_it_may_be() -> None:
    (end,) = (token for token in range(512) if TOKENIZER.is_end(token))
    (spelled,) = {text for text in ("<|end|>", "<|im_end|>", "<|eos|>") if TOKENIZER.encode(text, True) == [end]}
    assert end not in TOKENIZER.encode(spelled)
    assert TOKENIZER.decode([end]) == ""


def test_a_context_is_no_longer_than_was_trained_and_no_longer_than_was_asked() -> None:
    assert load(ModelRequest(POCKET_DRAFT, context=64)).model.context_size == 64
    whole = load(ModelRequest(POCKET_DRAFT)).model.context_size
    assert load(ModelRequest(POCKET_DRAFT, context=10**6)).model.context_size == whole


def test_a_gguf_file_is_left_to_the_engine_that_reads_it() -> None:
    for look in (lambda name: load(ModelRequest(name)), describe):
        with pytest.raises(PredtuiError, match="GGUF"):
            look(SMOLLM2.name)


def test_every_token_that_a_file_names_as_an_end_is_one(tmp_path: Path) -> None:
    """Folders name them in three places, as a number or several, bare or with how they are found in a text."""
    folder = tiny_folder.write(tmp_path / "tiny")
    change(folder / "config.json", eos_token_id=[3, 5])
    change(folder / "generation_config.json", eos_token_id=7)
    change(folder / "tokenizer_config.json", eos_token={"content": "<|end|>", "special": True})
    loaded = load(ModelRequest(str(folder)))
    spelled = loaded.tokenizer.encode("<|end|>", special=True)
    ends = {token for token in range(loaded.model.vocab_size) if loaded.tokenizer.is_end(token)}
    assert ends == {3, 5, 7, *spelled}
    assert len(spelled) == 1


def change(path: Path, **entries: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))
