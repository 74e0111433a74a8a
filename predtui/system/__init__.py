"""What predtui asks of the operating system and of other libraries. Knows nothing of speech or models."""

from __future__ import annotations
