"""WhisperFlow: streaming Whisper with a hush word, beam pruning and a pipelined encoder (Wang, Xu and Lin 2025)."""

from __future__ import annotations
