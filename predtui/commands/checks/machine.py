"""Python, the terminal, the folders, sound devices and the GPU. Must not know of models."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator

from predtui.commands.checks.finding import Finding
from predtui.config import user_file
from predtui.errors import PredtuiError
from predtui.llm.default import REMOTE
from predtui.settings import Settings, state_folder
from predtui.state.kept import kept_file

ROOM_MB = 10.0
"""What logs and conversations want, at least."""


def python(_: Settings) -> Iterator[Finding]:
    """Its version, and the machine it runs on."""
    cores = os.cpu_count()
    detail = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {cores} cores"
    recent = sys.version_info >= (3, 11)
    remedy = "" if recent else "Install Python 3.11 or newer."
    yield Finding("python", "found" if recent else "broken", detail, remedy, needed=True)


def terminal(_: Settings) -> Iterator[Finding]:
    """Whether there is one, and how large it is."""
    if not sys.stdout.isatty():
        yield Finding("terminal", "missing", "output is not a terminal", "Run predtui in one to see the screen.")
        return
    size = shutil.get_terminal_size()
    kind = os.environ.get("TERM", "unknown")
    colours = "truecolor" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else kind
    detail = f"{size.columns}x{size.lines}, {colours}, {sys.stdout.encoding}"
    if size.columns < 80 or size.lines < 24:
        yield Finding("terminal", "found", detail, "Panes need 80x24 to be comfortable: enlarge the window.")
    else:
        yield Finding("terminal", "found", detail)


def settings(_: Settings) -> Iterator[Finding]:
    """Where they stand, and where logs go."""
    path = user_file()
    yield Finding("settings", "found", str(path) if path.exists() else f"defaults ({path} is not there)")
    folder = state_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free / 2**20
    except OSError as error:
        yield Finding("log folder", "broken", f"{folder}: {error}", "Set PREDTUI_STATE_DIR to a folder you may write.")
        return
    detail = f"{folder}, {free:.0f} MB free"
    if free < ROOM_MB:
        yield Finding("log folder", "broken", detail, "Make room there, or set PREDTUI_STATE_DIR to another folder.")
    else:
        yield Finding("log folder", "found", detail)


def conversations(settings: Settings) -> Iterator[Finding]:
    """Whether they are kept, how many there are, and where."""
    from predtui.state.kept.store import kept

    if settings.sessions.private:
        yield Finding("conversations", "missing", "not kept: sessions.private is on", "Turn it off to keep them.")
    elif not (path := kept_file()).exists():
        yield Finding("conversations", "found", f"none yet; they are kept in {path}")
    else:
        try:
            with kept() as store:
                yield Finding("conversations", "found", f"{len(store.sessions())} kept in {path}")
        except PredtuiError as error:
            yield Finding("conversations", "broken", error.message, error.remedy)


def confinement(settings: Settings) -> Iterator[Finding]:
    """What keeps the stages to what they need."""
    from predtui.runtime.hosts.confinement import means

    if not settings.safety.confined:
        detail = "switched off: stages may do all that you may"
        yield Finding("confinement", "missing", detail, "Set safety.confined to true.")
        return
    have = means()
    if len(have) == 2:
        network = "no network but the model's server" if settings.llm.engine == REMOTE else "no network"
        yield Finding("confinement", "found", f"{' and '.join(have)}: stages reach what they need, and {network}")
    else:
        detail = f"{have[0]} alone" if have else "neither Landlock nor seccomp is here: stages may do all that you may"
        yield Finding("confinement", "missing", detail, "Linux 6.7 or newer, on x86-64 or ARM64, has all it takes.")


def sound(settings: Settings) -> Iterator[Finding]:
    """The microphone and the loudspeaker that the settings name."""
    from predtui.audio.devices import NOUN, Kind, find

    chosen: dict[Kind, str] = {"input": settings.audio.input, "output": settings.audio.output}
    for kind, name in chosen.items():
        if name == "none":
            yield Finding(NOUN[kind], "missing", "switched off", f"Clear audio.{kind} to use one.")
            continue
        try:
            device = find(kind, name)
            yield Finding(NOUN[kind], "found", f"{device.index} {device.name}, {device.rate} Hz")
        except PredtuiError as error:
            yield Finding(NOUN[kind], "missing", error.message, error.remedy)


def echo(_: Settings) -> Iterator[Finding]:
    """What cancels the echo of a reply, so that it can be talked over hands-free."""
    from predtui.audio.echo import WebRtc

    try:
        WebRtc()
        yield Finding("echo canceller", "found", "WebRTC's: hands-free, a reply can be talked over")
    except PredtuiError as error:
        yield Finding("echo canceller", "missing", error.message, error.remedy)


def gpu(_: Settings) -> Iterator[Finding]:
    """An NVIDIA GPU, if there is one."""
    from predtui.system.gpu import Gpu

    if name := Gpu().name:
        yield Finding("gpu", "found", name)
    else:
        yield Finding("gpu", "missing", "no NVIDIA GPU; the CPU does all the work", "None needed for the pocket model.")


def energy(_: Settings) -> Iterator[Finding]:
    """Whether the processors' energy may be read."""
    from predtui.system.energy import POWERCAP, Rapl, unreadable

    if unreadable():
        detail = f"root alone may read the counters in {POWERCAP}: no watts and no joules a reply"
        remedy = f"To let everybody, until the next start: sudo chmod a+r {POWERCAP}/intel-rapl:*/energy_uj"
        yield Finding("energy", "missing", detail, remedy)
    elif Rapl().joules() is None:
        detail = "no counters of the processors' energy here: no watts and no joules a reply"
        yield Finding("energy", "missing", detail, "None needed: only UTILISATION shows them.")
    else:
        yield Finding("energy", "found", f"UTILISATION tells watts and joules a reply, from {POWERCAP}")
