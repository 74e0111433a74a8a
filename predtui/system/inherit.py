"""How a process that is started gets the ends of pipes and the open files of this one. Must not know what for.

POSIX passes descriptors. Windows passes handles, which a list in the start-up information allows by name, so that
nothing else is inherited; there, only pipes are passed. That half is checked by its types and by a fake alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection as End
else:
    from multiprocessing.connection import Connection as End

__all__ = ["End", "popen_options"]


def popen_options(ends: Sequence[int], windows: bool = sys.platform == "win32") -> dict[str, Any]:
    """Keyword arguments of Popen with which a process inherits ``ends``, what ``fileno`` says of them, and the
    terminal's Ctrl-C does not reach it. ``ends``: descriptors, or handles on ``windows``."""
    if not windows:
        return {"pass_fds": tuple(ends), "process_group": 0}
    own: Any = os
    system: Any = subprocess
    for end in ends:
        own.set_handle_inheritable(end, True)
    return {
        "startupinfo": system.STARTUPINFO(lpAttributeList={"handle_list": list(ends)}),
        "creationflags": system.CREATE_NEW_PROCESS_GROUP,
    }
