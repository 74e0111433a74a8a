"""Files of random weights: small or whole, they load, and say something else to something else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from predtui.lab.random_gguf import LAYERS, SIZES, write
from predtui.llm.gguf import read_header
from predtui.llm.load import load


@pytest.mark.parametrize("family", SIZES)
def test_a_published_size_in_small_loads_and_answers(family: str, tmp_path: Path) -> None:
    attention = {} if family == "mamba" else {"heads": 2, "kv_heads": 1, "width": 32, "feed_forward": 96}
    shape = replace(SIZES[family], hidden=64, layers=2, inner=128, state=16, words=300, context=512, **attention)
    path = write(tmp_path / "small.gguf", shape, words=["what", "is"])
    assert any(kind == "Q8_0" for kind, _ in read_header(path).weights)
    loaded = load(str(path), threads=1)
    ids = loaded.tokenizer.encode(" what is")
    assert len(ids) == 2
    assert loaded.tokenizer.decode(ids) == " what is"
    rows = loaded.model.forward([*ids, 5, 6, 7], last=5).logits
    assert np.isfinite(rows).all()
    assert len({int(row.argmax()) for row in rows}) > 1
    loaded.model.close()


def test_each_family_has_its_layers() -> None:
    assert set(SIZES) <= set(LAYERS)
