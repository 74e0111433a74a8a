"""The laboratory: benches, and how the shipped models were made. Nothing outside imports it."""

from __future__ import annotations
