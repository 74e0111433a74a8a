"""Models of the families that people run: tiny files of random weights in the published layout, each with a vocabulary
of its kind and a chat template of our own writing in the structure of the published one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import gguf
import numpy as np

from tests.llm import family_templates as templates

HIDDEN, LAYERS, HEADS, KV_HEADS, FEED_FORWARD, CONTEXT, EXPERTS = 64, 2, 4, 2, 96, 1024, 4
HEAD = HIDDEN // HEADS
MERGES = ["Ġ t", "h e", "i n", "Ġt he", "Ġ a"]
PIECES = ["▁", *"etaoinshrdlu.?!,\n", "▁t", "he", "in", "▁the", "▁a"]


@dataclass(frozen=True)
class Family:
    """``pre``: how the vocabulary cuts text; empty: SentencePiece. ``marks``: its special tokens, ``bos`` and ``end``
    among them; ``ends``: those that end a reply. ``begins``: whether the vocabulary asks for a BOS. ``extras``: numbers
    of its architecture. ``head``: the width of a head. ``note``: what a person is told of its template.
    ``answers``: how a prompt ends that is to be answered without a thought, in models that think."""

    name: str
    arch: str
    template: str
    marks: tuple[str, ...]
    bos: str
    end: str
    ends: tuple[str, ...]
    pre: str = ""
    begins: bool = False
    extras: dict[str, float | int] = field(default_factory=dict)
    head: int = HEAD
    biased: bool = False
    normed: bool = False
    sandwiched: bool = False
    note: str = ""
    answers: str = ""

    def __str__(self) -> str:
        return self.name


CHATML = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
GEMMA = ("<pad>", "<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>")
GEMMA_EXTRAS: dict[str, float | int] = {"attention.sliding_window": 16}
NO_SYSTEM, IN_TURN = "no system prompt", "in turn"
FAMILIES = (
    Family(
        "Llama 3", "llama", templates.LLAMA3,
        (
            "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>",
            "<|end_of_text|>",
        ),
        "<|begin_of_text|>", "<|eot_id|>", ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"), "llama-bpe", begins=True,
    ),
    Family(
        "Qwen2.5", "qwen2", templates.QWEN2, CHATML, "", "<|im_end|>", ("<|im_end|>", "<|endoftext|>"), "qwen2",
        biased=True,
    ),
    Family(
        "Qwen3", "qwen3", templates.QWEN3, (*CHATML, "<think>", "</think>"), "", "<|im_end|>",
        ("<|im_end|>", "<|endoftext|>"), "qwen2", head=32, normed=True,
        answers="<|im_start|>assistant\n<think>\n\n</think>\n\n",
    ),
    Family(
        "DeepSeek-R1 distill", "qwen2", templates.DEEPSEEK,
        ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>", "<think>", "</think>"),
        "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", ("<｜end▁of▁sentence｜>",), "deepseek-r1-qwen",
        begins=True, biased=True, answers="<｜Assistant｜><think>\n\n</think>\n\n",
    ),
    Family(
        "Mistral", "llama", templates.MISTRAL, ("<s>", "</s>", "[INST]", "[/INST]"), "<s>", "</s>", ("</s>",),
        begins=True, note=NO_SYSTEM,
    ),
    Family(
        "Gemma 2", "gemma2", templates.GEMMA2, GEMMA, "<bos>", "<eos>", ("<eos>", "<end_of_turn>"),
        begins=True, head=32,
        sandwiched=True, note=NO_SYSTEM,
        extras={**GEMMA_EXTRAS, "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0},
    ),
    Family(
        "Gemma 3", "gemma3", templates.GEMMA3, GEMMA, "<bos>", "<eos>", ("<eos>", "<end_of_turn>"),
        begins=True, head=32,
        normed=True, sandwiched=True, extras=GEMMA_EXTRAS, note=IN_TURN,
    ),
    Family(
        "Phi-3", "phi3", templates.PHI3,
        ("<s>", "</s>", "<|endoftext|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"),
        "<s>", "<|endoftext|>", ("<|endoftext|>", "<|end|>", "</s>"), begins=True,
    ),
    Family(
        "SmolLM3", "smollm3", templates.SMOLLM3,
        ("<|begin_of_text|>", "<|end_of_text|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"),
        "<|begin_of_text|>", "<|im_end|>", ("<|im_end|>", "<|end_of_text|>"), "llama-bpe",
        answers="<|im_start|>assistant\n<think>\n\n</think>\n",
    ),
    Family(
        "Granite 3", "granite", templates.GRANITE, ("<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>"), "",
        "<|end_of_text|>", ("<|end_of_text|>",), "refact",
        extras={"logit_scale": 8.0, "residual_scale": 0.22, "embedding_scale": 12.0, "attention.scale": 0.0625},
    ),
    Family(
        "Command-R", "command-r", templates.COMMAND_R,
        (
            "<BOS_TOKEN>", "<EOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|SYSTEM_TOKEN|>",
            "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>",
        ),
        "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", ("<|END_OF_TURN_TOKEN|>",), "command-r", begins=True,
        extras={"attention.layer_norm_epsilon": 1e-5, "logit_scale": 0.0625}, note=IN_TURN,
    ),
    Family(
        "gpt-oss", "gpt-oss", templates.GPT_OSS,
        (
            "<|startoftext|>", "<|endoftext|>", "<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|return|>",
            "<|call|>",
        ),
        "<|startoftext|>", "<|return|>", ("<|return|>", "<|call|>", "<|endoftext|>"), "gpt-4o", biased=True,
        answers="<|start|>assistant<|channel|>final<|message|>",
        extras={
            "attention.sliding_window": 16, "expert_count": EXPERTS, "expert_used_count": 2,
            "expert_feed_forward_length": 32,
        },
    ),
)  # fmt: skip


def write(path: Path, family: Family, seed: int = 0) -> Path:
    """The family's file."""
    writer = gguf.GGUFWriter(str(path), family.arch)
    _hyperparameters(writer, family)
    size = (_bytes if family.pre else _pieces)(writer, family)
    writer.add_chat_template(family.template)
    _weights(writer, family, size, np.random.default_rng(seed))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _hyperparameters(writer: gguf.GGUFWriter, family: Family) -> None:
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(family.head)
    writer.add_value_length(family.head)
    writer.add_rope_dimension_count(family.head)
    if "attention.layer_norm_epsilon" not in family.extras:
        writer.add_layer_norm_rms_eps(1e-5)
    for key, value in family.extras.items():
        add = writer.add_uint32 if isinstance(value, int) else writer.add_float32
        add(f"{family.arch}.{key}", value)


def _bytes(writer: gguf.GGUFWriter, family: Family) -> int:
    """A byte-level vocabulary with a few merges."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    letters = {b: chr(b) for b in printable} | {b: chr(256 + i) for i, b in enumerate(others)}
    tokens = [*(letters[b] for b in range(256)), *(m.replace(" ", "") for m in MERGES)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(family.pre)
    writer.add_token_merges(MERGES)
    return _marked(writer, family, tokens, [gguf.TokenType.NORMAL] * len(tokens))


def _pieces(writer: gguf.GGUFWriter, family: Family) -> int:
    """A vocabulary of SentencePiece, which falls back to bytes."""
    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *PIECES]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.BYTE] * 256, *[gguf.TokenType.NORMAL] * len(PIECES)]
    writer.add_tokenizer_model("llama")
    writer.add_token_scores([-float(at) for at in range(len(tokens) + len(family.marks))])
    return _marked(writer, family, tokens, kinds)


def _marked(writer: gguf.GGUFWriter, family: Family, tokens: list[str], kinds: list[gguf.TokenType]) -> int:
    tokens = [*tokens, *family.marks]
    writer.add_token_list(tokens)
    writer.add_token_types([*kinds, *[gguf.TokenType.CONTROL] * len(family.marks)])
    if family.bos:
        writer.add_bos_token_id(tokens.index(family.bos))
    writer.add_eos_token_id(tokens.index(family.end))
    writer.add_add_bos_token(family.begins)
    if not family.pre:
        writer.add_unk_token_id(0)
        writer.add_add_space_prefix(not family.arch.startswith("gemma"))
    return len(tokens)


Matrix = Callable[..., np.ndarray]


def _weights(writer: gguf.GGUFWriter, family: Family, size: int, rng: np.random.Generator) -> None:
    def matrix(*shape: int) -> np.ndarray:
        return (rng.normal(size=shape) * 1.5 / shape[-1] ** 0.5).astype(np.float16)

    writer.add_tensor("token_embd.weight", rng.normal(size=(size, HIDDEN)).astype(np.float16))
    writer.add_tensor("output_norm.weight", np.ones(HIDDEN, np.float32))
    if family.arch == "gpt-oss":
        writer.add_tensor("output.weight", matrix(size, HIDDEN))
    for layer in range(LAYERS):
        add = _Layer(writer, f"blk.{layer}.", matrix)
        _attention(add, family)
        _feed_forward(add, family)


@dataclass(frozen=True)
class _Layer:
    writer: gguf.GGUFWriter
    block: str
    matrix: Matrix

    def weight(self, name: str, *shape: int) -> None:
        self.writer.add_tensor(f"{self.block}{name}.weight", self.matrix(*shape))

    def norm(self, name: str, width: int = HIDDEN) -> None:
        self.writer.add_tensor(f"{self.block}{name}.weight", np.ones(width, np.float32))

    def bias(self, name: str, *shape: int) -> None:
        self.writer.add_tensor(f"{self.block}{name}.bias", self.matrix(*shape).astype(np.float32))


def _attention(add: _Layer, family: Family) -> None:
    queries, keys = HEADS * family.head, KV_HEADS * family.head
    add.norm("attn_norm")
    if family.arch == "phi3":
        add.weight("attn_qkv", queries + 2 * keys, HIDDEN)
    else:
        for name, width in (("attn_q", queries), ("attn_k", keys), ("attn_v", keys)):
            add.weight(name, width, HIDDEN)
            if family.biased:
                add.bias(name, width)
    add.weight("attn_output", HIDDEN, queries)
    if family.normed:
        add.norm("attn_q_norm", family.head)
        add.norm("attn_k_norm", family.head)
    if family.sandwiched or family.arch == "gpt-oss":
        add.norm("post_attention_norm")
    if family.arch == "gpt-oss":
        add.bias("attn_output", HIDDEN)
        add.norm("attn_sinks", HEADS)


def _feed_forward(add: _Layer, family: Family) -> None:
    if family.arch == "gpt-oss":
        _experts(add, family)
        return
    if family.arch != "command-r":
        add.norm("ffn_norm")
    if family.arch == "phi3":
        add.weight("ffn_up", 2 * FEED_FORWARD, HIDDEN)
    else:
        add.weight("ffn_gate", FEED_FORWARD, HIDDEN)
        add.weight("ffn_up", FEED_FORWARD, HIDDEN)
    add.weight("ffn_down", HIDDEN, FEED_FORWARD)
    if family.sandwiched:
        add.norm("post_ffw_norm")


def _experts(add: _Layer, family: Family) -> None:
    width = int(family.extras["expert_feed_forward_length"])
    add.writer.add_tensor(f"{add.block}ffn_gate_inp.weight", add.matrix(EXPERTS, HIDDEN).astype(np.float32))
    add.bias("ffn_gate_inp", EXPERTS)
    for name, into, out in (("gate", HIDDEN, width), ("up", HIDDEN, width), ("down", width, HIDDEN)):
        add.weight(f"ffn_{name}_exps", EXPERTS, out, into)
        add.bias(f"ffn_{name}_exps", EXPERTS, out)
