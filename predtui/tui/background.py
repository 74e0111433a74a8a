"""Work that waits for the network, in threads that do not keep the app from ending. Knows no widget."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context


def in_background(work: Callable[[], object], name: str) -> None:
    """Runs ``work``, which only posts messages, in a thread of its own. Textual's workers are waited for when the app
    ends, and a server that says nothing would hold it for as long as it is waited for; this is left behind."""
    threading.Thread(target=copy_context().run, args=(work,), name=name, daemon=True).start()
