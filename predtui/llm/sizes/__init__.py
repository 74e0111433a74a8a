"""What a language model takes of memory, and what it reads of it for a token, before it is loaded."""

from __future__ import annotations
