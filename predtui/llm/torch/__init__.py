"""The engine torch: transformers networks in folders of safetensors."""

from __future__ import annotations

DEFAULT_CONTEXT = 4096
"""Tokens, where none are asked for and the network was trained for more."""
