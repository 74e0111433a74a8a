"""The real servers that tests ask, each with the pocket model, started once for all tests that want it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from predtui.lab.bench.servers import NotInstalledError, Server, Serving, start
from predtui.models.shipped import place

POCKET_GGUF = place("pocket") / "model.gguf"
SLOTS = 4
THINKS = """{%- for message in messages %}
{{- '<|' + message['role'] + '|>' }}
{%- if message['role'] == 'assistant' and message['reasoning_content'] is defined and message['reasoning_content'] %}
{{- '<think>\n' + message['reasoning_content'] + '\n</think>\n\n' }}{% endif %}
{{- message['content'] + '<|end|>' }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|assistant|><think>\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}{{- '\n</think>\n\n' }}{% endif %}{% endif %}"""
"""In the form of published ones: a model thinks unless it is told not to. The pocket model babbles then."""


def _running(kind: str, template: str = "") -> Iterator[Server]:
    """Of ``kind``; where it is not installed, the tests that want it are skipped, and say so."""
    serving = start(kind, Serving(POCKET_GGUF, context=2048 * SLOTS, slots=SLOTS, template=template))
    try:
        server = serving.__enter__()
    except NotInstalledError as error:
        pytest.skip(str(error))
    yield server
    serving.__exit__(None, None, None)


@pytest.fixture(scope="session")
def llama_server() -> Iterator[Server]:
    yield from _running("llama-server")


@pytest.fixture(scope="session")
def llama_cpp_server() -> Iterator[Server]:
    yield from _running("llama_cpp")


@pytest.fixture(scope="session")
def transformers_server() -> Iterator[Server]:
    yield from _running("transformers")


@pytest.fixture(scope="session")
def thinking_server() -> Iterator[Server]:
    """llama-server with a template that begins a thought."""
    yield from _running("llama-server", THINKS)
