"""What a Zonos checkpoint says of itself in ``config.json``. Imports no torch; must not know how a layer computes.

Unknown keys are ignored. What the transformer cannot be built from is refused with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from predtui.errors import PredtuiError
from predtui.files import read_json

CODEBOOKS = 9
CODES = 1024
"""Entries of a codebook: codes 0 to 1023 are sound."""
EOS, MASKED = 1024, 1025
"""Ids beyond the codes: the end of the sentence, and what stands in the gaps of the delay pattern."""
FOLDER_HINT = "Give tts.model a folder with the config.json and model.safetensors of Zyphra/Zonos-v0.1-transformer."

Kind = Literal["EspeakPhonemeConditioner", "PassthroughConditioner", "FourierConditioner", "IntegerConditioner"]
Projection = Literal["none", "linear", "mlp"]


@dataclass(frozen=True, slots=True)
class BackboneConfig:
    """Sizes of the transformer: ``d_ff`` features inside its MLP, ``heads`` of queries, ``kv_heads`` of keys."""

    d_model: int
    layers: int
    d_ff: int
    heads: int
    kv_heads: int
    norm_epsilon: float = 1e-5

    @property
    def head_dim(self) -> int:
        return self.d_model // self.heads


@dataclass(frozen=True, slots=True)
class ConditionerConfig:
    """One part of the prefix. ``cond_dim``: features before its projection, 0 for d_model. ``learned``: whether it
    has a vector for a missing value. ``low`` and ``high`` bound the value of Fourier and integer conditioners."""

    kind: Kind
    name: str
    cond_dim: int = 0
    projection: Projection = "none"
    learned: bool = False
    input_dim: int = 1
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class ZonosConfig:
    """``projection``: what the whole prefix passes through after its parts are joined."""

    backbone: BackboneConfig
    conditioners: tuple[ConditionerConfig, ...]
    projection: Projection = "none"


def read_config(path: Path) -> ZonosConfig:
    """The configuration in ``path``. Raises PredtuiError for a file that cannot be read, lacks a key, or describes the
    hybrid model or other special ids."""
    try:
        content = read_json(path)
    except (OSError, ValueError) as error:
        raise PredtuiError(f"{path} cannot be read: {error}.", FOLDER_HINT) from error
    try:
        return _parsed(content)
    except PredtuiError as error:
        raise PredtuiError(f"{path}: {error.message}", error.remedy or FOLDER_HINT) from None
    except KeyError as error:
        raise PredtuiError(f"{path} has no key {error.args[0]!r}.", FOLDER_HINT) from error
    except (TypeError, ValueError, AttributeError) as error:
        raise PredtuiError(f"{path} is no configuration of Zonos: {error}.", FOLDER_HINT) from error


def _parsed(content: Mapping[str, Any]) -> ZonosConfig:
    special = content.get("eos_token_id", EOS), content.get("masked_token_id", MASKED)
    if special != (EOS, MASKED):
        raise PredtuiError(f"its end and mask ids are {special}, and those of Zonos v0.1 are {(EOS, MASKED)}.")
    prefix = content["prefix_conditioner"]
    return ZonosConfig(
        backbone=_backbone(content["backbone"]),
        conditioners=tuple(map(_conditioner, prefix["conditioners"])),
        projection=_one_of(prefix.get("projection", "none"), get_args(Projection)),
    )


def _backbone(content: Mapping[str, Any]) -> BackboneConfig:
    if content.get("ssm_cfg"):
        raise PredtuiError(
            "this is the hybrid model, whose state-space layers (ssm_cfg) predtui does not run.",
            "Take the transformer, Zyphra/Zonos-v0.1-transformer.",
        )
    attention = content["attn_cfg"]
    config = BackboneConfig(
        d_model=int(content["d_model"]),
        layers=int(content["n_layer"]),
        d_ff=int(content["attn_mlp_d_intermediate"]),
        heads=int(attention["num_heads"]),
        kv_heads=int(attention["num_heads_kv"]),
        norm_epsilon=float(content.get("norm_epsilon", 1e-5)),
    )
    if min(config.d_model, config.layers, config.d_ff, config.heads, config.kv_heads) < 1:
        raise PredtuiError("a size of its backbone is below 1.")
    if config.d_model % config.heads or config.head_dim % 2 or config.heads % config.kv_heads:
        raise PredtuiError(
            f"{config.heads} query heads and {config.kv_heads} key heads do not divide {config.d_model} features."
        )
    return config


def _conditioner(content: Mapping[str, Any]) -> ConditionerConfig:
    integer = content["type"] == "IntegerConditioner"
    return ConditionerConfig(
        kind=_one_of(content["type"], get_args(Kind)),
        name=str(content["name"]),
        cond_dim=int(content.get("cond_dim") or 0),
        projection=_one_of(content.get("projection", "none"), get_args(Projection)),
        learned=_one_of(content.get("uncond_type", "none"), ("learned", "none")) == "learned",
        input_dim=int(content.get("input_dim", 1)),
        low=float(content.get("min_val", 0)),
        high=float(content.get("max_val", 512 if integer else 1)),
    )


def _one_of(value: Any, known: tuple[Any, ...]) -> Any:
    if value not in known:
        raise PredtuiError(f"{value!r} is not one of {', '.join(known)}.")
    return value
