"""The sound check in a process of its own, and what it tells, as it comes. Must not know who reads it.

Sound libraries write to the terminal, and one that hangs or crashes takes its process along.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict
from types import TracebackType

from predtui.audio.found import Found, Level, Say, Told
from predtui.models.shipped import asset
from predtui.settings import AudioSettings

KINDS: dict[str, type[Told]] = {kind.__name__: kind for kind in (Say, Level, Found)}
CHILD = "from predtui.audio.checking import tell; tell()"
LONGEST_S = 30.0
"""Seconds that it may take, of which the devices may take most."""
TIMES, PAUSE_S = 3, 0.1
"""How often the sample is played, and the seconds between."""
OVER = "over"


class Checking:
    """A sound check under way: iterate over it once. It ends when left, in time, and from any thread by ``stop``."""

    def __init__(self, options: AudioSettings) -> None:
        """Raises OSError where no process can be started."""
        self._child = subprocess.Popen(
            [sys.executable, "-c", CHILD, options.input, options.output],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
        )  # fmt: skip
        self._stopped = False

    def __enter__(self) -> Checking:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def __iter__(self) -> Iterator[Told]:
        """Whatever happens to the sound system, the last line says so."""
        assert self._child.stdout is not None
        late = threading.Timer(LONGEST_S, self._child.kill)
        late.daemon = True
        late.start()
        try:
            for line in self._child.stdout:
                if line.strip() == OVER:
                    return
                if (told := _read(line)) is not None:
                    yield told
        finally:
            late.cancel()
            self._child.kill()
            self._child.wait()
        if not self._stopped:
            yield Found(
                "sound", "broken", "the sound system does not answer.", "Is a sound server running?", needed=True
            )

    def stop(self) -> None:
        self._stopped = True
        self._child.kill()


def works(told: list[Told]) -> bool:
    """Whether somebody can be heard, and can hear."""
    needed = [one for one in told if isinstance(one, Found) and one.needed]
    return bool(needed) and all(one.state == "found" for one in needed)


def tell() -> None:
    """What ``Checking`` reads."""
    from predtui.audio.check import check

    options = AudioSettings(input=sys.argv[1], output=sys.argv[2])
    for told in check(options, sample()):
        print(json.dumps({"kind": type(told).__name__, **asdict(told)}), flush=True)
    print(OVER, flush=True)


def sample() -> tuple[bytes, int]:
    """Something that was once said here, so often that a canceller finds its echo: mono 16-bit PCM, and its rate."""
    import wave

    with wave.open(str(asset("sessions", "example", "reply-1-22050.wav")), "rb") as file:
        pcm, rate = file.readframes(file.getnframes()), file.getframerate()
    return bytes(2 * round(PAUSE_S * rate)).join([pcm] * TIMES), rate


def _read(line: str) -> Told | None:
    """None for what a library has written."""
    try:
        record = json.loads(line)
        return KINDS[record.pop("kind")](**record)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
