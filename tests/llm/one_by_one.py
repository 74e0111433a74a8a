"""A program: does a GGUF file's forward over 64 tokens compute what its own one-token forwards compute? In a process of
its own, since llama.cpp may end it. Arguments: a folder to write to, the type, the width. Prints the largest difference
of a logit, a number."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from predtui.llm.load import load
from tests.tiny_gguf import quantise, write

COUNT = 64


def main() -> None:
    folder, kind, width = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    plain = write(folder / "plain.gguf", hidden=width, feed_forward=2 * width)
    model = load(str(quantise(plain, folder / f"{kind}-{width}.gguf", kind)), threads=1).model
    tokens = np.random.default_rng(0).integers(0, 256, COUNT).tolist()
    at_once = model.forward(tokens, last=COUNT).logits
    model.forget()
    single = np.concatenate([model.forward(tokens[: end + 1]).logits for end in range(COUNT)])
    assert np.isfinite(at_once).all()
    print(json.dumps(float(np.abs(at_once - single).max())))


if __name__ == "__main__":
    main()
