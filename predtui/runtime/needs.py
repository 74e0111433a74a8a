"""What each stage needs of the system, and so all that its process may do. Must not know how that is enforced."""

from __future__ import annotations

import glob
import os
import tempfile
from dataclasses import replace
from typing import Any, Literal

from predtui.errors import PredtuiError
from predtui.llm.default import REMOTE
from predtui.llm.remote.address import parse, reference
from predtui.settings import LlmSettings, cache_folder, learnt_folder, state_folder
from predtui.state.stage import Needs

GPU = ("/dev/nv*", "/dev/dri", "/dev/kfd", "/dev/dxg")
"""Devices of NVIDIA's, AMD's and Intel's drivers, and of Windows' for Linux."""
SOUND = ("/dev/snd",)
CONVERTED = "ctranslate2"
"""Where the recogniser keeps checkpoints, beneath the state folder."""


def needs() -> dict[str, Needs]:
    """Stage → what it needs, whatever its options. The recogniser keeps converted checkpoints, the language model what
    its self-test found and what drafts have learnt; that test is a process of Python's. PortAudio is looked for with
    programs of the system, and reaches sound servers through sockets."""
    sound = Needs(sockets=_sound_server(), programs="any", devices=SOUND)
    return {
        "mic": sound,
        "asr": _computing(str(state_folder() / CONVERTED)),
        "llm": _computing(str(cache_folder()), str(learnt_folder()), itself=True),
        "tts": _computing(),
        "player": sound,
    }


def _computing(*writes: str, itself: bool = False) -> Needs:
    """On a GPU where there is one, whose driver compiles in the temporary folder and asks its own daemons."""
    gpu = any(glob.glob(pattern) for pattern in GPU)
    return Needs(
        sockets="local" if gpu else "none",
        programs="itself" if itself else "none",
        writes=(*writes, *((tempfile.gettempdir(),) if gpu else ())),
        devices=GPU,
    )


def _sound_server() -> Literal["local", "any"]:
    """Any, where the user has named one on another machine."""
    return "any" if "tcp" in os.environ.get("PULSE_SERVER", "") else "local"


def connected(needs: Needs | None, options: Any) -> Needs | None:
    """``needs`` of a stage with ``options``: with the port of the language model's server, where that is behind a
    network, and no other."""
    if needs is None or not isinstance(options, LlmSettings):
        return needs
    return replace(needs, ports=_server(options))


def _server(llm: LlmSettings) -> tuple[int, ...]:
    """Of an address that is none, the stage tells."""
    if llm.engine != REMOTE:
        return ()
    try:
        return (parse(reference(llm.url, llm.model)).port,)
    except PredtuiError:
        return ()
