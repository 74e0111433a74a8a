"""Lines in, replies out: whatever comes on standard input, and however output ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise, takewhile
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.commands import piped
from predtui.errors import PredtuiError

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
COMMAND = [sys.executable, "-m", "predtui"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREDTUI_")}
    places = {"PREDTUI_CONFIG_DIR": str(tmp_path / "config"), "PREDTUI_STATE_DIR": str(tmp_path / "state")}
    return kept | places | {"PREDTUI_AUDIO_OUTPUT": "none", "PREDTUI_AUDIO_INPUT": "none", "PREDTUI_EMBEDDED": "1"}


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    def command(said: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*COMMAND, *arguments], input=said, env=environment, capture_output=True, timeout=120)

    return command


@contextmanager
def started(environment: dict[str, str], said: bytes) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    """The program while it runs, ``said`` to it and its input still open; its output, and what it complains of."""
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(said)
        process.stdin.flush()
        yield process, process.stdout, process.stderr


def read(pieces: list[bytes]) -> list[str]:
    """What ``lines`` makes of a pipe into which ``pieces`` are written one after another."""
    out, into = os.pipe()

    def write() -> None:
        for piece in pieces:
            os.write(into, piece)
        os.close(into)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        return list(piped.lines(out, patience_s=60))
    finally:
        os.close(out)
        thread.join()


WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"], exclude_characters="\ufeff"))


@given(st.lists(WORDS.map(str.strip), min_size=1), st.lists(st.integers(0, 300)), st.booleans())
def test_lines_are_lines_however_they_arrive(wanted: list[str], cuts: list[int], ended: bool) -> None:
    data = "\n".join(wanted).encode() + b"\n" * ended
    places = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    pieces = [data[start:end] for start, end in pairwise(places)]
    assert [line for line in read(pieces) if line] == [line for line in wanted if line]


@given(st.binary(max_size=2000))
def test_no_bytes_are_refused_and_none_steer_the_terminal(data: bytes) -> None:
    for line in read([data]):
        assert not any(ord(character) < 32 for character in line)


def test_a_long_line_is_cut_and_the_next_is_whole() -> None:
    long = b"x" * (3 * piped.LONGEST_LINE)
    assert [len(line) for line in read([long, long, b"\nnext\n", long])] == [
        piped.LONGEST_LINE + 1,
        len("next"),
        piped.LONGEST_LINE + 1,
    ]


def test_a_stream_without_lines_is_given_up() -> None:
    with open("/dev/zero", "rb") as zero, pytest.raises(PredtuiError, match="has no lines"):
        list(piped.lines(zero.fileno(), patience_s=60))


def test_a_pipe_in_which_nothing_comes_is_not_waited_for() -> None:
    out, into = os.pipe()
    assert list(piped.lines(out, patience_s=0.0)) == []
    os.close(into)
    os.close(out)


def test_each_line_has_its_reply_in_order_in_one_conversation(run: Run) -> None:
    done = run(b"\nwhat is the capital of spain\n  \r\nand of italy\r\nwhat is two plus two")
    assert (done.returncode, done.stderr) == (0, b"")
    madrid, rome, four = done.stdout.decode().splitlines()
    assert "Madrid" in madrid
    assert "Rome" in rome, "the second line is understood by the first"
    assert "4" in four


def test_a_line_that_is_too_long_has_an_empty_reply_and_a_reason(run: Run) -> None:
    done = run(b"a " * piped.LONGEST_LINE + b"\nwhat is two plus two\n")
    assert done.returncode == 1
    refused, four = done.stdout.decode().splitlines()
    assert (refused, "4" in four) == ("", True)
    assert b"longer than 10000 bytes" in done.stderr


def test_without_a_model_every_reason_is_given_once(run: Run) -> None:
    done = run(b"hi\nho\n", "--model", "absent.gguf")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.count(b"no model file absent.gguf") == 1


@pytest.mark.parametrize("said", [b"", b"\n \n"])
def test_an_input_without_prompts_plays_the_example(run: Run, said: bytes) -> None:
    done = run(said)
    assert done.returncode == 0
    assert b"No terminal here, so this plays one example turn" in done.stdout


def test_a_reader_that_has_heard_enough_ends_it_without_a_word(environment: dict[str, str]) -> None:
    with started(environment, b"what is two plus two\n" * 50) as (process, stdout, stderr):
        assert b"4" in stdout.readline()
        stdout.close()
        assert stderr.read() == b""
        assert process.wait(60) != 0


@pytest.mark.parametrize("arguments", [[], ["turn", "--text", "hi"], ["bench", "startup"], ["doctor"]])
def test_a_full_disk_is_one_line(arguments: list[str], environment: dict[str, str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], input=b"hi\n", stdout=full, stderr=subprocess.PIPE, env=environment, timeout=60
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"No space left" in done.stderr


def test_ctrl_c_ends_it_without_a_traceback(environment: dict[str, str]) -> None:
    with started(environment, b"hi\n") as (process, stdout, stderr):
        stdout.readline()
        time.sleep(0.2)  # it waits for the next line now
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert b"Traceback" not in stderr.read()


def test_ctrl_c_ends_it_even_while_it_is_being_imported(environment: dict[str, str]) -> None:
    code = """
import runpy, sys
class Interrupted:
    def find_spec(self, name, path, target=None):
        if name == "predtui.commands.cli":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
runpy.run_module("predtui", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, b"")


def test_a_turn_is_printed_while_it_is_typed(environment: dict[str, str]) -> None:
    command = [*COMMAND, "turn", "--cps", "8", "--text", "well " + "and then what is more " * 60]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    with process:
        assert process.stdout is not None
        before = list(takewhile(lambda line: "    user  " not in line, process.stdout))
        process.kill()
    assert any("1,325 characters at 8 a second take 3 minutes" in line for line in before)
