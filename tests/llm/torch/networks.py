"""Networks of transformers' families, of random weights and the smallest sizes in which they are still themselves."""

from __future__ import annotations

from typing import Any

VOCABULARY, WINDOW = 97, 8
SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.5,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": None,
}
SLIDING = {"sliding_window": WINDOW, "layer_types": ["sliding_attention", "full_attention"]}
EXPERTS = {"num_experts_per_tok": 2}
STATE = {"mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_n_groups": 1}
FAMILIES: dict[str, dict[str, Any]] = {
    "Llama": {},
    "Qwen2": {},
    "Qwen3": {"head_dim": 16},
    "Qwen3Moe": {**EXPERTS, "num_experts": 4, "moe_intermediate_size": 16, "head_dim": 8},
    "Gemma2": {**SLIDING, "head_dim": 8, "query_pre_attn_scalar": 8},
    "Gemma3": {**SLIDING, "head_dim": 8, "query_pre_attn_scalar": 8},
    "Phi3": {},
    "Mistral": {"sliding_window": WINDOW},
    "GPTNeoX": {},
    "Olmo2": {},
    "Granite": {},
    "Cohere": {},
    "SmolLM3": {},
    "Lfm2": {"layer_types": ["conv", "full_attention"], "block_auto_adjust_ff_dim": False},
    "GptOss": {**SLIDING, **EXPERTS, "num_local_experts": 4, "head_dim": 8},
    "Mamba": {"state_size": 4},
    "FalconH1": STATE,
}


def network_of(family: str, **other: int) -> Any:
    """A random network of the family, that never ends a reply, of ``other`` sizes where they are given."""
    import torch
    import transformers

    torch.manual_seed(1)
    torch.set_num_threads(1)
    config: Any = getattr(transformers, family + ("TextConfig" if family == "Gemma3" else "Config"))
    network = getattr(transformers, f"{family}ForCausalLM")(config(**SHAPE | FAMILIES[family] | other)).eval()
    network.generation_config.eos_token_id = None
    return network
