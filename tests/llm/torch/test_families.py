"""Every family of transformers' causal models, of random weights: replies equal ``transformers.generate``'s, token for
token, after roll-backs and through trees."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LanguageModel, has_trees
from predtui.llm.load import load
from tests import tiny_folder
from tests.llm.torch.networks import FAMILIES, SHAPE, VOCABULARY, network_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

PROMPT, REPLY = 30, 12


def theirs(network: Any, prompts: list[list[int]]) -> list[list[int]]:
    """Replies to prompts of one length, all at once."""
    out = network.generate(torch.tensor(prompts), max_new_tokens=REPLY, do_sample=False, pad_token_id=0)
    replies: list[list[int]] = out[:, len(prompts[0]) :].tolist()
    return replies


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_says_what_transformers_says(family: str) -> None:
    """Over a cache that grows, and over one of fixed size where the family can."""
    from predtui.llm.torch.fixed import FixedModel, unfixed
    from predtui.llm.torch.folder import wrapped

    network = network_of(family)
    models = [wrapped(network)]
    if not unfixed(network):
        models.append(FixedModel(network, capture=None))
    dice = random.Random(0)
    lengths, prompts = (PROMPT, 20, 3, 17), [dice.choices(range(2, VOCABULARY), k=PROMPT)]
    for kept in lengths[1:]:
        prompts.append(prompts[-1][:kept] + dice.choices(range(2, VOCABULARY), k=PROMPT - kept))
    for prompt, wanted, kept in zip(prompts, theirs(network, prompts), lengths, strict=True):
        for model in models:
            says(model, prompt, wanted, kept, dice)


def says(model: LanguageModel, prompt: list[int], wanted: list[int], kept: int, dice: random.Random) -> None:
    """That the reply is the one that is wanted: token by token, at once, after roll-backs, and in a tree."""
    assert list(generate(model, prompt, Greedy(), REPLY, lambda _: False)) == wanted
    assert [int(row.argmax()) for row in model.forward(prompt + wanted, REPLY + 1).logits[:-1]] == wanted
    model.forget()
    model.forward(prompt[:kept])
    assert [int(row.argmax()) for row in model.forward(prompt + wanted, REPLY + 1).logits[:-1]] == wanted
    model.forget(dice.randrange(PROMPT))
    assert [int(row.argmax()) for row in model.forward(prompt + wanted, REPLY + 1).logits[:-1]] == wanted
    if has_trees(model):
        branch = [token + 1 if token + 1 < VOCABULARY else 2 for token in wanted[:2]]
        rows = model.forward_tree(prompt, [*wanted, *branch], [*range(-1, REPLY - 1), -1, REPLY]).logits
        assert [int(row.argmax()) for row in rows[:REPLY]] == wanted
        np.testing.assert_allclose(rows[-1], model.forward(prompt + branch).logits[0], atol=1e-3)


def test_a_model_within_a_model_is_opened_and_says_what_transformers_says(tmp_path: Path) -> None:
    folder = tiny_folder.write(tmp_path / "composite")
    vision = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    text = SHAPE | FAMILIES["Gemma3"] | {"vocab_size": 264, "eos_token_id": 7}
    config = transformers.Gemma3Config(
        text_config=text,
        vision_config={**vision, "image_size": 28, "patch_size": 14},
        mm_tokens_per_image=4,
        **dict.fromkeys(("boi_token_index", "eoi_token_index", "image_token_index"), 263),
    )
    torch.manual_seed(0)
    network = transformers.Gemma3ForConditionalGeneration(config)
    assert not hasattr(config, "eos_token_id")
    network.save_pretrained(folder)
    loaded = load(str(folder), "torch", threads=1)
    prompt = random.Random(0).choices(range(256), k=PROMPT)
    wanted = theirs(network.eval(), [prompt])[0]
    reply = list(generate(loaded.model, prompt, Greedy(), REPLY, loaded.tokenizer.is_end))
    assert reply == wanted[: len(reply)]
    assert loaded.tokenizer.is_end(7)
