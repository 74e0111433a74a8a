"""Takes from a stage's process what the stage has said that it does not need. Must not know of any particular stage.

It does so before the stage's code is imported and before any data is opened, while the process has one thread: Landlock
binds a thread and those that it starts. What cannot be had here is told by ``means``, and is done without.
"""

from __future__ import annotations

import contextlib
import glob
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from predtui.settings import data_folder, state_folder
from predtui.state.stage import Needs
from predtui.system import landlock, seccomp

SECRETS = (
    ".ssh", ".gnupg", ".password-store", ".netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc",
    ".aws", ".azure", ".kube", ".docker", ".config/gh", ".config/gcloud", ".config/git/credentials", ".config/op",
    ".local/share/keyrings", ".pki", ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium",
    ".config/BraveSoftware", ".cache/huggingface/token", ".cache/huggingface/stored_tokens",
    ".ollama/id_ed25519", ".bash_history", ".zsh_history", ".python_history", ".cargo/credentials.toml",
)  # fmt: skip
"""In a home folder, and read by no stage. All else may be read: a model may lie anywhere, and so may Python."""
_SHARED = ("/dev/null", "/dev/shm", "/proc/self")
"""Every stage may write here: sound servers and OpenMP share memory so, and drivers name their threads so."""


def means() -> list[str]:
    """What this system confines stages with, in words; empty: nothing."""
    level = landlock.version()
    return [*([f"Landlock {level}"] if level else []), *(["seccomp"] if seccomp.available() else [])]


def confine(needs: Needs) -> None:
    """Give up for good all but ``needs``, as far as this system can. What it refuses goes to the log."""
    if landlock.version():
        with _logged("Landlock"):
            landlock.restrict(_rules(needs), needs.sockets == "any", needs.ports)
    if seccomp.available():
        with _logged("seccomp"):
            anywhere = needs.sockets == "any" or bool(needs.ports)
            seccomp.restrict(needs.sockets == "local", anywhere, programs=needs.programs != "none")


def secrets() -> list[str]:
    """Where the user's lie, and what was recorded or kept of conversations."""
    homes = {os.path.expanduser("~")}
    if sys.platform != "win32":
        import pwd

        with contextlib.suppress(KeyError):
            homes.add(pwd.getpwuid(os.getuid()).pw_dir)
    named = [os.path.join(home, name) for home in homes for name in SECRETS]
    said = (str(state_folder() / "sessions"), str(data_folder() / "conversations"))
    return [os.path.realpath(path) for path in (*named, *said)]


def _rules(needs: Needs) -> Iterator[tuple[str | Path, int]]:
    """Names may be listed everywhere: Python looks for modules so."""
    yield "/", landlock.LIST | (landlock.EXECUTE if needs.programs == "any" else 0)
    for path in landlock.all_but([*secrets(), *_others()]):
        yield path, landlock.READ
    for folder in needs.writes:
        with contextlib.suppress(OSError):
            Path(folder).mkdir(parents=True, exist_ok=True)
    for writable in (*_SHARED, *needs.writes):
        yield writable, landlock.CHANGE | landlock.READ
    for pattern in needs.devices:
        for device in glob.glob(pattern):
            yield device, landlock.WRITE | landlock.IOCTL
    if needs.programs == "itself":
        for program in {os.path.realpath(sys.executable), *_mapped()}:
            yield program, landlock.EXECUTE


def _others() -> list[str]:
    """What the system tells of other processes: their environments too."""
    own = str(os.getpid())
    return [f"/proc/{name}" for name in os.listdir("/proc") if name.isdigit() and name != own]


def _mapped() -> set[str]:
    """The files whose code this process runs: the interpreter, its loader, its libraries."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as lines:
        parts = [line.rstrip("\n").split(maxsplit=5) for line in lines]
    return {part[5] for part in parts if len(part) == 6 and "x" in part[1] and part[5].startswith("/")}


@contextlib.contextmanager
def _logged(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        logging.warning("not confined by %s: %s", what, error)
