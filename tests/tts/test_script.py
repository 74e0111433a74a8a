"""What an engine is given to say: in its own language, with the user's pronunciations, as they are at the time."""

from __future__ import annotations

import os
from pathlib import Path

from predtui.tts.espeak import EspeakSynthesizer
from predtui.tts.mute import Mute
from predtui.tts.script import Script


def test_a_sentence_is_said_in_the_language_of_the_voice() -> None:
    script = Script()
    assert script.text("5 km", EspeakSynthesizer("de")) == "5 Kilometer"
    assert script.text("5 km", EspeakSynthesizer("German")) == "5 Kilometer"
    assert script.text("5 km", EspeakSynthesizer("en-us")) == "five kilometers"
    assert script.text("5 km", Mute()) == "five kilometers"
    assert Script(language="de").text("5 km", Mute()) == "5 Kilometer"


def test_phonemes_reach_the_engine_that_takes_them_alone(tmp_path: Path) -> None:
    path = tmp_path / "pronunciations.toml"
    path.write_text("""tomato = "[[t@m'A:t@U]]"\n""")
    script = Script(path)
    assert script.refresh() == ""
    assert script.text("A tomato.", EspeakSynthesizer()) == "A [[t@m'A:t@U]]."
    assert script.text("A tomato.", Mute()) == "A tomato."


def test_a_file_is_read_again_where_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "pronunciations.toml"
    script = Script(path)
    assert script.refresh() == ""
    path.write_text("nginx = engine x")
    assert "not valid TOML" in script.refresh()
    assert script.refresh() == "", "told once"
    path.write_text('nginx = "engine x"')
    os.utime(path, ns=(1, 1))
    assert script.refresh() == ""
    assert script.text("nginx", Mute()) == "engine x"
    path.unlink()
    assert script.refresh() == ""
    assert script.text("nginx", Mute()) == "nginx"
