"""``predtui voices``: the voices that Zonos can speak with. Imports the encoder when a voice is added."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from predtui.commands.inputs import existing
from predtui.commands.with_settings import Commands, with_settings
from predtui.settings import Settings

voices = Commands(help="Voices of Zonos: an embedding each, made of a recording.", no_args_is_help=True)


@voices.command("add")
@with_settings
def add(
    settings: Settings,
    name: Annotated[str, typer.Argument(help="What to call the voice.")],
    file: Annotated[
        Path,
        typer.Argument(help="A recording of it: 10 to 30 s of speech, a WAV or any sound file.", callback=existing),
    ],
) -> None:
    """Make a voice of a recording. Speak with it: predtui --tts zonos --tts-speaker NAME."""
    from predtui.tts.zonos.engine import needs_torch

    needs_torch()
    import numpy as np

    from predtui.audio.sources import FileSource
    from predtui.clock import VirtualClock
    from predtui.tts.zonos import speakers
    from predtui.tts.zonos.checkpoint import find
    from predtui.tts.zonos.speaker_encoder import FILES, load_encoder

    speakers.check_name(name)
    encoder = load_encoder(find(settings.tts.encoder, *FILES, hint=speakers.ENCODER_HINT))
    source = FileSource(str(file), VirtualClock())
    source.start()
    pcm = np.frombuffer(b"".join(iter(source.read, None)), dtype="<i2")
    path = speakers.save(name, encoder.embed(pcm.astype(np.float32) / np.float32(32768)))
    print(f"{name} is kept in {path}. Try it: predtui --tts zonos --tts-speaker {name}")


@voices.command("list")
def list_() -> None:
    """The voices there are."""
    from predtui.tts.zonos import speakers

    print("\n".join(speakers.names()) or "None yet: predtui voices add NAME FILE")
