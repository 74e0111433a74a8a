"""Where stages run: inline for tests, in a thread, or in a process of their own. Must not know any particular stage."""

from __future__ import annotations
