"""A trained Whisper as files that others load: a Hugging Face folder, and a CTranslate2 folder made from it.

Weights are stored in half precision and as 8-bit integers. Must not know of training.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from predtui.asr.whisperflow.files import FAST, convert, fast_form
from predtui.lab.training.asr import from_ctranslate2
from predtui.lab.training.asr.config import FRAMES_A_SECOND, SAMPLE_RATE, Shape
from predtui.lab.training.asr.model import Whisper
from predtui.lab.training.asr.tokenizer import END, START, UNTIMED, save_tokenizer

WEIGHTS = "model.safetensors"
SINUSOIDS = "model.encoder.embed_positions.weight"
TABLES = ("model.decoder.embed_positions.weight", "model.decoder.embed_tokens.weight")


def whisper_config(shape: Shape, tokenizer: Tokenizer) -> dict[str, Any]:
    """The ``config.json`` of ``WhisperForConditionalGeneration``."""
    end, start = tokenizer.token_to_id(END), tokenizer.token_to_id(START)
    return {
        "architectures": ["WhisperForConditionalGeneration"],
        "model_type": "whisper",
        "d_model": shape.d_model,
        "encoder_layers": shape.encoder_layers,
        "decoder_layers": shape.decoder_layers,
        "num_hidden_layers": shape.encoder_layers,
        "encoder_attention_heads": shape.heads,
        "decoder_attention_heads": shape.heads,
        "encoder_ffn_dim": shape.ffn,
        "decoder_ffn_dim": shape.ffn,
        "vocab_size": shape.vocab,
        "num_mel_bins": shape.mels,
        "max_source_positions": shape.source_positions,
        "max_target_positions": shape.target_positions,
        "activation_function": "gelu",
        "scale_embedding": False,
        "bos_token_id": end,
        "eos_token_id": end,
        "pad_token_id": end,
        "decoder_start_token_id": start,
        "tie_word_embeddings": True,
        "torch_dtype": "float16",
    }


def export(model: Whisper, tokenizer: Tokenizer, folder: Path) -> None:
    """Write both forms into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    shape, config = model.shape, whisper_config(model.shape, tokenizer)
    save_tokenizer(tokenizer, folder)
    generation = {
        "decoder_start_token_id": config["decoder_start_token_id"],
        "eos_token_id": config["eos_token_id"],
        "pad_token_id": config["pad_token_id"],
        "no_timestamps_token_id": tokenizer.token_to_id(UNTIMED),
        "is_multilingual": False,
        "suppress_tokens": [],
        "begin_suppress_tokens": [],
        "alignment_heads": [[shape.decoder_layers - 1, head] for head in range(shape.heads)],
    }
    seconds = shape.window // FRAMES_A_SECOND
    extractor = {
        "feature_extractor_type": "WhisperFeatureExtractor",
        "feature_size": shape.mels,
        "sampling_rate": SAMPLE_RATE,
        "hop_length": SAMPLE_RATE // FRAMES_A_SECOND,
        "chunk_length": seconds,
        "n_fft": 400,
    }
    files = {"config": config, "generation_config": generation, "preprocessor_config": extractor}
    for name, data in files.items():
        (folder / f"{name}.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    weights = {name: tensor.detach().half().contiguous() for name, tensor in model.state_dict().items()}
    save_file(weights, str(folder / WEIGHTS), metadata={"format": "pt"})
    convert(folder, folder / FAST)


def grown(model: Whisper, shape: Shape) -> Whisper:
    """``model`` with the window, the context and the vocabulary of ``shape``, where its own are shorter: the new rows
    of its tables begin as the last ones. Raises RuntimeError where anything else differs."""
    larger = Whisper(shape)
    fresh, weights = larger.state_dict(), model.state_dict()
    weights[SINUSOIDS] = fresh[SINUSOIDS]
    for name in TABLES:
        missing = len(fresh[name]) - len(weights[name])
        weights[name] = torch.cat([weights[name], weights[name][-1:].expand(missing, -1)])
    larger.load_state_dict(weights)
    return larger


def load_whisper(folder: Path) -> Whisper:
    """The model of a Whisper folder in Hugging Face's form, or in CTranslate2's where it has no other, frozen, in
    float32. Raises OSError, KeyError, RuntimeError or PredtuiError where it is none."""
    if not (folder / WEIGHTS).is_file():
        return from_ctranslate2.load(fast_form(folder))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    model = Whisper(Shape.from_config(config))
    weights = {name: tensor.float() for name, tensor in load_file(str(folder / WEIGHTS)).items()}
    model.load_state_dict({name: weight for name, weight in weights.items() if not name.startswith("proj_out")})
    return model.eval().requires_grad_(False)
