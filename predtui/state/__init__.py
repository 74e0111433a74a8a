"""Every type that crosses a stage boundary, the immutable Turn, their JSON form, and the Stage contract."""

from __future__ import annotations
