"""Tiny random voices in the published layouts of Kokoro, Piper and Supertonic: files, names, inputs and outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64
SAMPLES = 300
"""That Kokoro's and Piper's make of a token."""
KOKORO = {"af_heart": 1, "am_adam": 2, "bf_emma": 3, "ff_siwis": 4}
PHONEMES = '$;:,.!?—…"()“” abcdefhijklmnopqrstuvwxyzæɑɐɒəɚɛɜɡɪŋɔɹɾʃʊʌʒθðˈˌː'


def save(path: Path, nodes: list[Any], inputs: dict[str, tuple[int, list[Any]]], **constants: Any) -> None:
    """A network of ``nodes``, the last of which makes its output."""
    path.parent.mkdir(parents=True, exist_ok=True)
    puts = [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()]
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    out = helper.make_tensor_value_info(nodes[-1].output[0], FLOAT, None)
    graph = helper.make_graph(nodes, "voice", puts, [out], held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def node(kind: str, inputs: str, output: str, **attributes: Any) -> Any:
    return helper.make_node(kind, inputs.split(), [output], **attributes)


def _wave(seed: int, samples: int = SAMPLES) -> Any:
    return np.random.default_rng(seed).normal(size=(1, 1, samples)).astype(np.float32)


def kokoro(folder: Path, seed: int = 0) -> Path:
    """onnx-community/Kokoro-82M-v1.0-ONNX: onnx/model.onnx, tokenizer.json, config.json, voices/NAME.bin."""
    nodes = [
        node("Cast", "input_ids", "ids", to=FLOAT),
        node("Unsqueeze", "ids last", "column"),
        node("Mul", "column wave", "spread"),
        node("Reshape", "spread flat", "line"),
        node("ReduceMean", "style", "mean", axes=[1], keepdims=1),
        node("Add", "line mean", "moved"),
        node("Div", "moved speed", "paced"),
        node("Sin", "paced", "waveform"),
    ]
    inputs: dict[str, tuple[int, list[Any]]] = {
        "input_ids": (INT, [1, "tokens"]), "style": (FLOAT, [1, 256]), "speed": (FLOAT, [1]),
    }  # fmt: skip
    constants = {"last": np.array([2]), "flat": np.array([1, -1])}
    save(folder / "onnx" / "model.onnx", nodes, inputs, wave=_wave(seed), **constants)
    vocabulary = {phoneme: token for token, phoneme in enumerate(PHONEMES)}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocabulary}}), encoding="utf-8")
    (folder / "config.json").write_text('{"model_type": "style_text_to_speech_2"}', encoding="utf-8")
    (folder / "voices").mkdir(exist_ok=True)
    for name, own in KOKORO.items():
        np.random.default_rng(own).normal(size=(510, 1, 256)).astype("<f4").tofile(folder / "voices" / f"{name}.bin")
    return folder


def piper(folder: Path, name: str = "en_US-tiny-low", **told: Any) -> Path:
    """rhasspy/piper-voices: NAME.onnx and NAME.onnx.json."""
    nodes = [
        node("Cast", "input", "ids", to=FLOAT),
        node("Unsqueeze", "ids last", "column"),
        node("Mul", "column wave", "spread"),
        node("Reshape", "spread flat", "line"),
        node("Sin", "line", "output"),
    ]
    inputs: dict[str, tuple[int, list[Any]]] = {
        "input": (INT, [1, "phonemes"]), "input_lengths": (INT, [1]), "scales": (FLOAT, [3]),
    }  # fmt: skip
    path = folder / f"{name}.onnx"
    save(path, nodes, inputs, wave=_wave(1), last=np.array([2]), flat=np.array([1, 1, 1, -1]))
    marks = {"_": [0], "^": [1], "$": [2]}
    config = {
        "audio": {"sample_rate": 16000}, "espeak": {"voice": "en-us"}, "phoneme_type": "espeak",
        "inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0.8}, "num_symbols": 256, "num_speakers": 1,
        "speaker_id_map": {}, "phoneme_id_map": marks | {p: [i + 3] for i, p in enumerate(PHONEMES[1:])},
    }  # fmt: skip
    (folder / f"{name}.onnx.json").write_text(json.dumps(config | told), encoding="utf-8")
    return path


def supertonic(folder: Path) -> Path:
    """Supertone/supertonic-3: four networks, tts.json and unicode_indexer.json in onnx/, and voice_styles/NAME.json."""
    ids: tuple[int, list[Any]] = (INT, [1, "letters"])
    mask: tuple[int, list[Any]] = (FLOAT, [1, 1, "letters"])
    style: tuple[int, list[Any]] = (FLOAT, [1, 50, 256])
    latent: tuple[int, list[Any]] = (FLOAT, [1, 144, "frames"])
    save(
        folder / "onnx" / "duration_predictor.onnx",
        [node("ReduceSum", "text_mask rest", "letters", keepdims=0), node("Mul", "letters each", "duration")],
        {"text_ids": ids, "style_dp": (FLOAT, [1, 8, 16]), "text_mask": mask},
        rest=np.array([1, 2]),
        each=np.array([0.02], dtype=np.float32),
    )
    save(
        folder / "onnx" / "text_encoder.onnx",
        [node("Cast", "text_ids", "letters", to=FLOAT), node("Mul", "letters text_mask", "text_emb")],
        {"text_ids": ids, "style_ttl": style, "text_mask": mask},
    )
    save(
        folder / "onnx" / "vector_estimator.onnx",
        [node("Mul", "noisy_latent latent_mask", "denoised_latent")],
        {
            "noisy_latent": latent, "text_emb": mask, "style_ttl": style, "latent_mask": (FLOAT, [1, 1, "frames"]),
            "text_mask": mask, "current_step": (FLOAT, [1]), "total_step": (FLOAT, [1]),
        },
    )  # fmt: skip
    save(
        folder / "onnx" / "vocoder.onnx",
        [
            node("ReduceMean", "latent", "mean", axes=[1], keepdims=0),
            node("Unsqueeze", "mean last", "column"),
            node("Mul", "column wave", "spread"),
            node("Reshape", "spread flat", "line"),
            node("Sin", "line", "wav_tts"),
        ],
        {"latent": latent},
        wave=_wave(2, 3072),
        last=np.array([2]),
        flat=np.array([1, -1]),
    )
    sizes = {"ae": {"sample_rate": 44100, "base_chunk_size": 512}}
    sizes |= {"ttl": {"chunk_compress_factor": 6, "latent_dim": 24}}
    (folder / "onnx" / "tts.json").write_text(json.dumps(sizes), encoding="utf-8")
    (folder / "onnx" / "unicode_indexer.json").write_text(json.dumps([i % 90 for i in range(1 << 16)]))
    (folder / "voice_styles").mkdir(exist_ok=True)
    for number, name in enumerate(("F1", "M1")):
        told = {
            part: {"dims": list(shape), "data": np.full(shape, number).tolist(), "type": "float32"}
            for part, shape in {"style_ttl": (1, 50, 256), "style_dp": (1, 8, 16)}.items()
        }
        (folder / "voice_styles" / f"{name}.json").write_text(json.dumps(told))
    return folder
