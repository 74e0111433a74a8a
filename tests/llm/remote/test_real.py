"""Real servers of the pocket model: what they say is what the model says here."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import psutil
import pytest

from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy
from predtui.lab.bench.servers import Server
from predtui.llm.base import LoadedModel
from predtui.llm.load import inspect, load
from predtui.llm.remote.address import parse, reference
from predtui.llm.remote.client import Link
from predtui.llm.remote.dialects import openai
from predtui.llm.remote.dialects.spelling import beside, plain
from predtui.llm.remote.engine import offered
from predtui.llm.thinking import with_thinking
from predtui.llm.thoughts import THINK, divide
from predtui.state.events import Message

HANG_S = 30.0
QUESTIONS = (
    "what is the capital of france",
    "how far is ten miles",
    "tell me a joke",
    "what is seven plus five",
    "add milk to my list",
)
TIE = 0.05
"""Two builds of llama.cpp choose otherwise between tokens that are as near to each other."""


@pytest.fixture(scope="module")
def near() -> Iterator[LoadedModel]:
    loaded = load("pocket", "llamacpp", threads=1)
    yield loaded
    loaded.model.close()


@pytest.fixture
def far(llama_server: Server) -> Iterator[LoadedModel]:
    loaded = load(reference(llama_server.url, "auto"), "remote")
    yield loaded
    loaded.model.close()


def asked(loaded: LoadedModel, question: str) -> list[int]:
    return loaded.prompt_tokens([Message("system", "You are a helpful voice assistant."), Message("user", question)])


def same(near: LoadedModel, prompt: list[int], said: list[int], limit: int) -> bool:
    """Whether ``said`` is the local model's reply, up to a tie between two tokens."""
    wanted = list(generate(near.model, prompt, Greedy(), limit, near.tokenizer.is_end))
    at = next((place for place, pair in enumerate(zip(wanted, said, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return wanted == said
    row = near.model.forward([*prompt, *wanted[:at]])[0]
    return row.gap(said[at]) < TIE


def test_llama_server_is_found_out_by_asking(llama_server: Server) -> None:
    line = inspect(reference(llama_server.url, "auto"), "remote")
    assert "on llama-server" in line
    assert "candidates verified by generating again" in line
    assert "remembers prompts" in line


def test_its_tokens_and_its_template_are_the_models(near: LoadedModel, far: LoadedModel) -> None:
    for question in QUESTIONS:
        assert asked(far, question) == asked(near, question)
    for text in ("héllo wörld", " a  b", "日本語 🙂", "<|im_end|> say", "x" * 100):
        tokens = near.tokenizer.encode(text)
        assert far.tokenizer.encode(text) == tokens
        assert far.tokenizer.decode(tokens) == near.tokenizer.decode(tokens)
    assert (far.model.vocab_size, far.parameters) == (near.model.vocab_size, near.parameters)


@pytest.mark.parametrize("question", QUESTIONS)
def test_its_replies_are_the_models_to_their_end(near: LoadedModel, far: LoadedModel, question: str) -> None:
    prompt = asked(near, question)
    said = list(generate(far.model, prompt, Greedy(), 60, far.tokenizer.is_end))
    assert same(near, prompt, said, 60)
    assert far.tokenizer.is_end(said[-1]) == near.tokenizer.is_end(said[-1])
    assert far.tokenizer.decode(said) == near.tokenizer.decode(said)


def test_its_rows_tell_the_likeliest_tokens(near: LoadedModel, far: LoadedModel) -> None:
    prompt = asked(near, QUESTIONS[0])
    row, told = near.model.forward(prompt)[0], far.model.forward(prompt)[0]
    assert told.argmax() == row.argmax()
    assert set(told.top(5)) == set(row.top(5))
    for token in row.top(3):
        assert told.logprob(token) == pytest.approx(row.logprob(token), abs=0.05)


def _cpu(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def test_a_request_that_is_given_up_costs_the_server_nothing_more(llama_server: Server, far: LoadedModel) -> None:
    """The server's own processor time stands still, long before the reply would have been over."""
    prompt = asked(far, QUESTIONS[0])
    with closing(far.model._server._link.stream("/completion", {**llama_server.endless[1]})) as stream:  # type: ignore[attr-defined]
        assert len(list(itertools.islice(stream, 5))) == 5
    until, idle = time.monotonic() + HANG_S, False
    while not idle and time.monotonic() < until:
        before = _cpu(llama_server.pid)
        time.sleep(0.3)
        idle = _cpu(llama_server.pid) - before < 0.1
    assert idle
    assert list(generate(far.model, prompt, Greedy(), 3, far.tokenizer.is_end)), "and it answers the next"


def test_ten_at_once_each_get_their_own_reply(near: LoadedModel, llama_server: Server) -> None:
    said: dict[int, tuple[list[int], list[int]]] = {}

    def assistant(number: int) -> None:
        loaded = load(reference(llama_server.url, ""), "remote")
        prompt = asked(loaded, f"{QUESTIONS[number % len(QUESTIONS)]} {number}")
        said[number] = prompt, list(generate(loaded.model, prompt, Greedy(), 24, loaded.tokenizer.is_end))
        loaded.model.close()

    threads = [threading.Thread(target=assistant, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_S)
    assert sorted(said) == list(range(10))
    for prompt, reply in said.values():
        assert same(near, prompt, reply, 24)


def test_servers_of_text_are_found_out_by_asking(llama_cpp_server: Server) -> None:
    line = inspect(reference(llama_cpp_server.url, "auto"), "remote")
    assert "on llama-cpp-python" in line
    assert "replies compared as text" in line


def test_transformers_serve_is_found_out_by_asking(transformers_server: Server) -> None:
    assert "replies compared as text" in inspect(reference(transformers_server.url, "auto"), "remote")


def said(loaded: LoadedModel, question: str, begun: list[int]) -> list[int]:
    return list(loaded.model.generate([*asked(loaded, question), *begun], 60))  # type: ignore[attr-defined]


def _goes_on_with_what_was_said(loaded: LoadedModel, mode: str) -> str:
    loaded = with_thinking(loaded, mode, 100)
    whole = said(loaded, QUESTIONS[0], [])
    assert loaded.tokenizer.is_end(whole[-1])
    assert said(loaded, QUESTIONS[0], whole[:3]) == whole[3:], "of what it says again, what is known is left out"
    return loaded.tokenizer.decode(whole)


@pytest.mark.parametrize("mode", ["off", "brief", "on"])
def test_servers_of_text_take_what_they_are_told_of_thinking(
    near: LoadedModel, llama_cpp_server: Server, mode: str
) -> None:
    loaded = load(reference(llama_cpp_server.url, "auto"), "remote")
    text = _goes_on_with_what_was_said(loaded, mode)
    loaded.model.close()
    prompt = asked(near, QUESTIONS[0])
    assert text.strip() == near.tokenizer.decode([*generate(near.model, prompt, Greedy(), 60, near.tokenizer.is_end)])


def test_transformers_serve_takes_what_it_is_told_of_thinking(transformers_server: Server) -> None:
    loaded = load(reference(transformers_server.url, "auto"), "remote")
    texts = {_goes_on_with_what_was_said(loaded, mode) for mode in ("off", "brief", "on")}
    loaded.model.close()
    assert len(texts) == 1, "the model has no thoughts"
    assert "Paris" in texts.pop()


def test_llama_server_takes_variables_of_its_template(llama_server: Server) -> None:
    """As text, too, it is a server of messages."""
    link = Link(parse(llama_server.url))
    messages = {"messages": [{"role": "user", "content": "hi"}]}
    plain = link.ask("/apply-template", messages)["prompt"]
    for on in (True, False):
        assert link.ask("/apply-template", messages | beside({"enable_thinking": on}))["prompt"] == plain
    server = openai.meet(link)
    for mode in ("off", "brief", "on"):
        assert server.think(mode) == "the model was not seen to think"
    assert "Paris" in "".join(server.chat([Message("user", QUESTIONS[0])], 40))
    server.close()


def test_the_doctor_tells_what_each_real_server_offers(
    llama_server: Server, llama_cpp_server: Server, transformers_server: Server
) -> None:
    for server, unit in ((llama_server, "tokens"), (llama_cpp_server, "words"), (transformers_server, "words")):
        told = dict(offered(reference(server.url, "auto"), "off", 100))
        assert told["verification"].endswith(f"as far as the {unit} are the same")
        assert list(told) == ["verification", "tokens", "thinking", "cancellation"]


def test_what_a_real_server_tells_apart_is_a_thought_and_can_be_switched_off(thinking_server: Server) -> None:
    """Asked for messages, as servers of text are."""
    link = Link(parse(thinking_server.url))
    server = openai.meet(link)
    ask = [Message("user", QUESTIONS[0])]
    for mode in ("on", "brief"):
        assert server.think(mode).startswith("the model thinks before it answers")
        said = divide("".join(server.chat(ask, 12)), THINK, within=False, ended=True)
        assert said.thought
        assert said.answer == ""
    assert server.think("off") == "the model can think; chat_template_kwargs keeps it from that"
    said = divide("".join(server.chat(ask, 40)), THINK, within=False, ended=True)
    assert (said.thought, bool(said.answer)) == ("", True)
    server.close()


@pytest.mark.parametrize("mode", ["off", "brief", "on"])
def test_prompts_for_a_real_server_are_written_as_it_writes_them(thinking_server: Server, mode: str) -> None:
    loaded = load(reference(thinking_server.url, "auto"), "remote")
    told = with_thinking(loaded, mode, 100)
    ask = [Message("user", QUESTIONS[0])]
    variables = {"enable_thinking": mode != "off"}
    link = Link(parse(thinking_server.url))
    body = {"messages": plain(ask), **beside(variables)}
    assert told.template.render(ask) == link.ask("/apply-template", body)["prompt"]
    link.close()
    loaded.model.close()
