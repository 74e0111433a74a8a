"""Sources of drafts, a file each; ``registry.DRAFTERS`` names them. Must not know of verification."""

from __future__ import annotations
