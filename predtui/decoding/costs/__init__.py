"""What forwards and drafts cost, measured as decoding goes on, and what to do about it."""

from __future__ import annotations
