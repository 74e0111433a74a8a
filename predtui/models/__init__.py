"""Which models there are, where they are, and how those that do not ship are fetched. Runs none of them."""

from __future__ import annotations
