"""What a stage's process says of itself can be read for as long as the program lives."""

from __future__ import annotations

import subprocess
import sys

READS_TO_THE_END = """
import atexit, threading
from predtui.runtime.hosts.beats import Beat, Beats

read = threading.Event()

def once_more():
    read.clear()
    read.wait(10)

atexit.register(once_more)  # runs last
beats = Beats()

def reads():
    while True:
        assert beats.read(1) == Beat()
        read.set()

threading.Thread(target=reads, daemon=True).start()
read.wait(10)
"""


def test_a_thread_that_reads_while_the_program_ends_meets_no_closed_file() -> None:
    done = subprocess.run([sys.executable, "-c", READS_TO_THE_END], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
