"""The engine torch: transformers networks in folders of safetensors."""

from __future__ import annotations
