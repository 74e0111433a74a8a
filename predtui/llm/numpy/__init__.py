"""The engine in numpy: small Llama networks, without a compiler."""

from __future__ import annotations
