"""The engine llama.cpp: GGUF files, its KV cache, trees, self-tests, and its compile."""

from __future__ import annotations
