"""The real models at work: a typed turn is what plain decoding says, and a voice is heard in every engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import wave
from pathlib import Path

import pytest

from predtui.asr.stage import recognizer
from predtui.audio.resample import RATE, Resampler
from predtui.lab.wer import word_error_rate
from predtui.llm.load import load
from predtui.models.published import EMBEDDED, SMOLLM2, TINY_EN
from predtui.predgen.prompts import system_prompt
from predtui.registry import RECOGNISERS
from predtui.runtime.build import resolved
from predtui.settings import AsrSettings, Settings
from predtui.state.events import Message
from predtui.tts.espeak import EspeakSynthesizer

pytestmark = pytest.mark.real

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "why do cats purr"
REPLY_TOKENS = 256
MISHEARD = 0.3
"""Of the words that a synthetic voice says. What is tested is that it is heard at all, not how well."""


def turn(tmp_path: Path, *arguments: str, **variables: str) -> dict[str, object]:
    """The last line of a turn from the command line: its summary."""
    folders = {f"PREDTUI_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE")}
    silent = {"PREDTUI_AUDIO_OUTPUT": "none", "PREDTUI_AUDIO_INPUT": "none", "PREDTUI_TTS_ENGINE": "none"}
    done = subprocess.run(
        [sys.executable, "-m", "predtui", "turn", "--json", *arguments],
        env=os.environ | folders | silent | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])["summary"]
    assert isinstance(summary, dict)
    return summary


def plainly(prompt: str) -> tuple[str, bool]:
    """What plain greedy decoding says, one token after another, and whether it comes to an end by itself. In a process
    of its own: where PyTorch is loaded, as it may be in this one, llama.cpp does without a processor's AMX tiles, and
    its other kernels may decide a near tie otherwise."""
    code = "import json, sys, tests.test_real_models as here; print(json.dumps(here.decoded(sys.argv[1])))"
    done = subprocess.run([sys.executable, "-c", code, prompt], cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    reply, ended = json.loads(done.stdout.splitlines()[-1])
    return reply, ended


def decoded(prompt: str) -> tuple[str, bool]:
    """``plainly``, in this process."""
    loaded = load(SMOLLM2.name)
    try:
        tokens = loaded.prompt_tokens([Message("system", system_prompt(loaded.parameters)), Message("user", prompt)])
        start = len(tokens)
        while len(tokens) - start < REPLY_TOKENS:
            token = loaded.model.forward(tokens)[-1].argmax()
            if loaded.tokenizer.is_end(token):
                return loaded.tokenizer.decode(tokens[start:]), True
            tokens.append(token)
        return loaded.tokenizer.decode(tokens[start:]), False
    finally:
        loaded.model.close()


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """A question, said by eSpeak NG: 16-bit samples at 16 kHz."""
    said = "tell me how to keep a small garden green in a very hot and dry summer"
    engine = EspeakSynthesizer("en-us", rate=150)
    resampler = Resampler(engine.rate, RATE)
    return said, resampler.process(b"".join(engine.synthesize(said))) + resampler.flush()


def test_a_typed_turn_answers_an_open_question_as_plain_decoding_does(tmp_path: Path) -> None:
    expected, ended = plainly(QUESTION)
    summary = turn(tmp_path, "--model", SMOLLM2.name, "--text", QUESTION, "--cps", "40")
    assert summary["reply"] == expected.strip()
    assert summary["lossless"] is True
    assert ended
    assert "purr" in expected.lower()


def test_nothing_is_named_and_both_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(EMBEDDED)
    chosen = resolved(Settings())
    assert (chosen.llm.model, chosen.asr.model) == (SMOLLM2.name, TINY_EN.name)
    assert "Paris" in str(turn(tmp_path, "--text", "what is the capital of france", "--cps", "40")["reply"])


@pytest.mark.parametrize("engine", [name for name in RECOGNISERS if name not in ("pocketsphinx", "sherpa")])
def test_every_engine_hears_a_voice_with_it(engine: str, voice: tuple[str, bytes]) -> None:
    said, pcm = voice
    recogniser = recognizer(AsrSettings(engine=engine, model=TINY_EN.name))
    recogniser.start()
    for part in (pcm[: len(pcm) // 4 * 2], pcm[len(pcm) // 4 * 2 :]):
        recogniser.feed(part, True)
    assert word_error_rate([(said, recogniser.finish().stable)]) <= MISHEARD


def test_a_spoken_turn_from_the_command_line(tmp_path: Path, voice: tuple[str, bytes]) -> None:
    said, pcm = voice
    sound = tmp_path / "said.wav"
    with wave.open(str(sound), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(pcm)
    summary = turn(tmp_path, "--model", "pocket", "--asr-model", TINY_EN.name, "--wav", str(sound))
    assert word_error_rate([(said, str(summary["prompt"]))]) <= MISHEARD
