"""Writes a random-weight Llama in the Hugging Face layout: every path of a real folder, none of its sense."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from tests.tiny_gguf import CHATML, CONTEXT, FEED_FORWARD, HEADS, HIDDEN, LAYERS

MERGES = [("Ġ", "t"), ("h", "e"), ("i", "n"), ("Ġt", "he"), ("Ġ", "a")]
SPECIAL = ["<|end|>", "<|im_start|>", "<|im_end|>"]


def write(
    folder: Path,
    seed: int = 0,
    template: str | None = CHATML,
    marks: Sequence[str] = SPECIAL,
    end: str = "<|im_end|>",
    **config: object,
) -> Path:
    """A byte-level BPE vocabulary of 256 bytes, a few merges and special tokens, one of which is the ``end`` of a
    reply; tied embeddings; 32-bit."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [*letters, *(a + b for a, b in MERGES)]
    bpe = Tokenizer(models.BPE({token: n for n, token in enumerate(tokens)}, MERGES))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.add_special_tokens([*marks])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token=end, chat_template=template)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    network = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=bpe.get_vocab_size(),
            hidden_size=HIDDEN,
            intermediate_size=FEED_FORWARD,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            max_position_embeddings=CONTEXT,
            initializer_range=0.5,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            **config,  # type: ignore[arg-type]
        )
    )
    network.save_pretrained(folder)
    return folder
