"""Found by every Python process whose PYTHONPATH names this folder: notes what it connects to, starts and writes.

One JSON line an event, [process, event, what], in the file that ``WATCHED`` names. Native code is not seen.
"""

import json
import os
import sys
from typing import Any

_out = os.open(os.environ["WATCHED"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
_NETWORK = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind")
_FILES = ("os.mkdir", "os.rename", "os.link", "os.symlink", "sqlite3.connect")


def _note(event: str, what: object) -> None:
    os.write(_out, (json.dumps([os.getpid(), event, what], default=repr) + "\n").encode())


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        _note(event, arguments[0])
    elif event in _FILES:
        _note(event, os.fspath(arguments[0]))
    elif event in _NETWORK:
        _note(event, [str(argument) for argument in arguments])
    elif event == "subprocess.Popen":
        _note(event, [str(part) for part in arguments[1]])


_note("started", sys.orig_argv)
sys.addaudithook(_watch)
