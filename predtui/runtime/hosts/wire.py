"""What a stage's process may tell the app: events, and nothing that runs code. Must not know of pipes' ends.

A pickle may name any function and have it called; a stage whose model has taken it over could leave its confinement so.
"""

from __future__ import annotations

import io
import pickle
import sys
from typing import Any

from predtui.system.inherit import End

LARGEST = 64 * 2**20
"""Bytes of one message: more than a turn's whole conversation, or a second of sound, ever takes."""
_MODULES = ("predtui.state.events", "predtui.state.sound")


class _Events(pickle.Unpickler):
    """Knows the classes of events, and no other name."""

    def find_class(self, module: str, name: str) -> Any:
        found = vars(sys.modules[module]).get(name) if module in _MODULES else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is no event")
        return found


def receive(pipe: End) -> Any:
    """The next message. Raises OSError where it is too large or nobody is there, EOFError at the end, or whatever
    error its bytes bring."""
    return _Events(io.BytesIO(pipe.recv_bytes(LARGEST))).load()
