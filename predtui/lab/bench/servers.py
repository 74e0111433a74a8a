"""Servers of language models, started on the loopback address for as long as they are measured: llama-cpp-python's own,
llama.cpp's out of the xllamacpp wheel, and transformers serve.

Must not know what is measured, or how they are asked.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from predtui.errors import PredtuiError

HOST = "127.0.0.1"
STARTS_S, LOOK_S, ENDS_S = 180.0, 0.1, 5.0
"""The longest that a server may take to start, how often it is looked at meanwhile; the longest it may take to end."""


class NotInstalledError(PredtuiError):
    """What a kind of server comes with is not here."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What is to be served: a GGUF ``model`` with its folder's tokenizer, at most ``slots`` requests at once, in all
    ``context`` tokens. ``template``: what llama-server is to take in place of the model's own, if anything."""

    model: Path
    threads: int = 1
    context: int = 4096
    slots: int = 1
    template: str = ""


@dataclass(frozen=True, slots=True)
class Server:
    """One that is running. ``endless``: the path and the body of a request that it works on for long."""

    kind: str
    url: str
    pid: int
    endless: tuple[str, dict[str, object]]


@dataclass(frozen=True, slots=True)
class Kind:
    """How a server is started, and kept busy; ``package``: the distribution that it comes with."""

    package: str
    module: str
    command: Callable[[Serving, int, str], list[str]]
    """Of what is served, the port, and a folder to write to."""
    endless: tuple[str, dict[str, object]]


_XLLAMACPP = """
import sys, time, xllamacpp
model, host, port, threads, context, slots, template = sys.argv[1:]
params = xllamacpp.CommonParams()
params.chat_template = template
params.model.path, params.hostnames, params.port = model, [host], int(port)
params.n_ctx, params.n_parallel = int(context), int(slots)
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
server = xllamacpp.Server(params)
while True:
    time.sleep(3600)
"""
_TRANSFORMERS = """
import shutil, sys
from pathlib import Path
import torch
from predtui.llm.torch.folder import load_network
from transformers.cli.transformers import app
given, cache, name, host, port, threads = sys.argv[1:]
torch.set_num_threads(int(threads))
repository = Path(cache, f"models--local--{name}")
folder = repository / "snapshots" / ("0" * 40)
folder.mkdir(parents=True)
(repository / "refs").mkdir()
(repository / "refs" / "main").write_text("0" * 40)
load_network(Path(given), "cpu", torch.float32).save_pretrained(folder)
for file in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
    shutil.copy(Path(given, file), folder)
app(["serve", f"local/{name}", "--host", host, "--port", port, "--device", "cpu"])
"""


def _llama_cpp(served: Serving, port: int, _folder: str) -> list[str]:
    """It works on one request at a time, and by default gives that up for a newer one, whoever asks."""
    options = {"model": served.model, "host": HOST, "port": port, "n_ctx": served.context}
    options |= {"n_threads": served.threads, "n_threads_batch": served.threads}
    options |= {"interrupt_requests": "false", "verbose": "false"}
    given = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    return [sys.executable, "-m", "llama_cpp.server", *given]


def _llama_server(served: Serving, port: int, _folder: str) -> list[str]:
    given = (served.model, HOST, port, served.threads, served.context, served.slots, served.template)
    return [sys.executable, "-c", _XLLAMACPP, *map(str, given)]


def _transformers(served: Serving, port: int, folder: str) -> list[str]:
    """It lists the models of the Hugging Face cache alone, so that one is made, with the folder's network in it."""
    name = served.model.parent.name
    given = (served.model.parent, folder, name, HOST, port, served.threads)
    return [sys.executable, "-c", _TRANSFORMERS, *map(str, given)]


_ASKED = {"messages": [{"role": "user", "content": "what is the sun"}], "stream": True, "temperature": 0}
KINDS = {
    "llama_cpp": Kind(
        "llama-cpp-python[server]",
        "llama_cpp.server.app",
        _llama_cpp,
        ("/v1/completions", {"prompt": "the", "stream": True, "max_tokens": 4000, "min_tokens": 4000}),
    ),
    "llama-server": Kind(
        "xllamacpp",
        "xllamacpp",
        _llama_server,
        ("/completion", {"prompt": "the", "stream": True, "n_predict": 4000, "ignore_eos": True}),
    ),
    "transformers": Kind(
        "transformers[serving]",
        "uvicorn",
        _transformers,
        ("/v1/chat/completions", _ASKED | {"max_tokens": 4000, "generation_config": '{"min_new_tokens": 4000}'}),
    ),
}
"""By the names that a person chooses them by."""


@contextmanager
def start(kind: str, served: Serving) -> Iterator[Server]:
    """A server of ``kind`` that answers, until the block is left. Raises NotInstalledError; PredtuiError where it does
    not start."""
    one = KINDS[kind]
    try:
        there = importlib.util.find_spec(one.module) is not None
    except ImportError:
        there = False
    if not there:
        raise NotInstalledError(f"The server {kind} is not installed.", f"Install it: pip install '{one.package}'")
    port = _free_port()
    with tempfile.TemporaryFile() as said, tempfile.TemporaryDirectory() as folder:
        around = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": folder, "OMP_NUM_THREADS": str(served.threads)}
        line = one.command(served, port, folder)
        process = subprocess.Popen(line, stdout=said, stderr=said, env=around, start_new_session=True)
        try:
            url = f"http://{HOST}:{port}"
            _wait(kind, url, process, lambda: _last_line(said))
            yield Server(kind, url, process.pid, one.endless)
        finally:
            process.terminate()
            try:
                process.wait(ENDS_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(kind: str, url: str, process: subprocess.Popen[bytes], last_line: Callable[[], str]) -> None:
    until = time.monotonic() + STARTS_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise PredtuiError(f"The server {kind} ended: {last_line()}", "Start it by hand to see more.")
        try:
            with urllib.request.urlopen(f"{url}/v1/models", timeout=ENDS_S):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(LOOK_S)
    raise PredtuiError(f"The server {kind} does not answer: {last_line()}", "Start it by hand to see more.")


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
