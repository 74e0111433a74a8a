"""A server that takes messages is told what has it think as little, or as much, as is wanted; what it thinks is told
from what it answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, never
from predtui.llm.load import load
from predtui.llm.remote.address import reference
from predtui.llm.remote.reasoning import Marking, switch
from predtui.llm.thinking import with_thinking
from predtui.llm.thoughts import THINK, Parts, divide
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import create
from predtui.settings import LlmSettings
from predtui.state.events import Message, ReplyFinished, Transcript, TurnStarted
from predtui.state.stage import StageContext
from tests.llm.remote.fake import Events, Status, serving

THOUGHT, ANSWER = "The user greets me, so I greet </think> back. ", "Hello there."
Fields = Mapping[str, Any]


def _template(body: Fields, name: str, usual: bool) -> bool:
    return bool(body.get("chat_template_kwargs", {}).get(name, usual))


def _refuses(*values: str) -> Callable[[Fields], Status | None]:
    def refuses(body: Fields) -> Status | None:
        return Status(400, "unknown effort") if body.get("reasoning_effort") in values else None

    return refuses


def _strict(*fields: str) -> Callable[[Fields], Status | None]:
    def strict(body: Fields) -> Status | None:
        refused = [field for field in fields if field in body]
        return Status(422, {"detail": f"Unrecognized: {refused}"}) if refused else None

    return strict


def anything(_body: Fields) -> None:
    """Nothing is refused."""


KWARGS, EFFORT = "chat_template_kwargs", "reasoning_effort"
TEMPLATE = {on: {KWARGS: {"enable_thinking": on, "thinking": on}} for on in (False, True)}
LOW = {EFFORT: "low"}
SERVERS: dict[str, tuple[Callable[[Fields], bool], Callable[[Fields], Status | None], str]] = {
    "vLLM, Qwen3": (lambda body: _template(body, "enable_thinking", True), anything, "reasoning"),
    "SGLang, Qwen3": (lambda body: _template(body, "enable_thinking", True), anything, "reasoning_content"),
    "vLLM, Granite": (lambda body: _template(body, "thinking", False), anything, "reasoning"),
    "Ollama, Qwen3": (lambda body: body.get(EFFORT) != "none", anything, "reasoning"),
    "vLLM, gpt-oss": (lambda body: True, _refuses("none", "minimal"), "reasoning_content"),
    "OpenAI": (lambda body: body.get(EFFORT) != "none", _strict(KWARGS), ""),
    "llama-cpp-python, Qwen3": (lambda body: True, anything, "content"),
    "one that cannot think": (lambda body: False, _strict(KWARGS, EFFORT), "reasoning"),
}
"""Whether they think, what they refuse, and the field in which they tell their thoughts; "": in none."""
WANTED: dict[str, tuple[tuple[Fields, bool], ...]] = {
    "vLLM, Qwen3": ((TEMPLATE[False], False), (TEMPLATE[True] | LOW, True), ({}, True)),
    "SGLang, Qwen3": ((TEMPLATE[False], False), (TEMPLATE[True] | LOW, True), ({}, True)),
    "vLLM, Granite": (({}, False), (TEMPLATE[True] | LOW, True), (TEMPLATE[True], True)),
    "Ollama, Qwen3": (({EFFORT: "none"}, False), (TEMPLATE[True] | LOW, True), ({}, True)),
    "vLLM, gpt-oss": ((LOW, True), (TEMPLATE[True] | LOW, True), ({}, True)),
    "OpenAI": (({EFFORT: "none"}, False), (LOW, True), ({}, True)),
    "llama-cpp-python, Qwen3": (({EFFORT: "none"}, True), (TEMPLATE[True] | LOW, True), ({}, True)),
    "one that cannot think": (({}, False), ({}, False), ({}, False)),
}
"""What is told them, and whether they think then: off, brief, on."""
MODES = ("off", "brief", "on")


def routes(name: str) -> dict[str, Any]:
    thinks, refuses, field = SERVERS[name]

    def chat(body: Fields) -> Any:
        if (refusal := refuses(body)) is not None:
            return refusal
        spelt = THOUGHT.replace("</think>", "again") if field == "content" else THOUGHT
        told = [(field, piece) for piece in spelt.split(" ")] if thinks(body) else []
        if field == "content" and told:
            told = [("content", "<think>"), *told, ("content", "</think>")]
        pieces = [*told, *(("content", piece) for piece in ("Hello", " there", "."))]
        return Events(_events(pieces[: body["max_tokens"]], len(pieces) > body["max_tokens"]))

    return {"/v1/models": {"data": [{"id": "m", "owned_by": "me"}]}, "/v1/chat/completions": chat}


def _events(pieces: list[tuple[str, str]], cut: bool) -> Iterator[dict[str, Any]]:
    yield {"choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]}
    for field, piece in pieces:
        delta = {field: piece if field == "content" else f"{piece} "} if field else {}
        yield {"choices": [{"delta": delta, "finish_reason": None}]}
    yield {"choices": [{"delta": {}, "finish_reason": "length" if cut else "stop"}]}


def parts(loaded: LoadedModel) -> Parts:
    """A whole reply."""
    said = loaded.model.generate(loaded.prompt_tokens([Message("user", "Hi")]), 200)  # type: ignore[attr-defined]
    return divide(loaded.tokenizer.decode(list(said)), THINK, within=False, ended=True)


@pytest.mark.parametrize(("number", "mode"), enumerate(MODES))
@pytest.mark.parametrize("name", SERVERS)
def test_a_server_is_told_what_it_takes_and_does_what_is_wanted(name: str, number: int, mode: str) -> None:
    fields, thinks = WANTED[name][number]
    with serving(routes(name)) as server:
        loaded = with_thinking(load(reference(server.url, "auto"), "remote"), mode, 100)
        said = parts(loaded)
        body = server.bodies("/v1/chat/completions")[-1]
        loaded.model.close()
    assert {key: body[key] for key in (KWARGS, EFFORT) if key in body} == fields
    assert said.answer.strip() == ANSWER
    assert not said.thinking
    assert bool(said.thought) == (thinks and SERVERS[name][2] != "")
    assert "greets" not in said.answer


def test_a_model_that_does_not_think_is_asked_once_whether_it_does() -> None:
    with serving(routes("one that cannot think")) as server:
        loaded = load(reference(server.url, "auto"), "remote")
        before = len(server.asked)
        with_thinking(loaded, "off", 100).model.close()
        assert len(server.asked) == before + 1
        assert server.bodies("/v1/chat/completions")[-1]["max_tokens"] <= 8


def test_a_server_that_fails_is_no_server_that_refuses() -> None:
    with serving(routes("vLLM, Qwen3") | {"/v1/chat/completions": Status(401)}) as server:
        loaded = load(reference(server.url, "auto"), "remote")
        with pytest.raises(PredtuiError, match=r"wants a key \(HTTP 401\)"):
            with_thinking(loaded, "off", 100)
        loaded.model.close()


@given(st.sampled_from(MODES), st.lists(st.sampled_from([True, False, None]), min_size=5, max_size=5))
def test_what_is_told_was_taken_and_did_what_is_wanted_if_anything_did(mode: str, seen: list[bool | None]) -> None:
    asked: list[Fields] = []

    def tried(fields: Fields) -> bool | None:
        asked.append(fields)
        return seen[len(asked) - 1]

    found = switch(tried, mode)
    wanted = mode != "off"
    taken = [(fields, thinks) for fields, thinks in zip(asked, seen, strict=False) if thinks is not None]
    if any(thinks == wanted for _, thinks in taken):
        assert (found.fields, found.thinks) in taken
        assert found.thinks == wanted
    else:
        assert not found.fields or found.fields in [fields for fields, _ in taken]
        assert found.thinks == any(thinks for _, thinks in taken)
    assert str(found)


words = st.text(st.sampled_from("ab </think>\n"), max_size=12)


@given(st.lists(st.tuples(words, st.text(st.sampled_from("ab .\n"), max_size=6)), max_size=8))
def test_nothing_that_was_thought_is_part_of_an_answer(said: list[tuple[str, str]]) -> None:
    """Whatever a thought spells, and however it is cut."""
    marking = Marking()
    text = "".join(marking.take(thought, answer) for thought, answer in said)
    whole = divide(text, THINK, within=False, ended=True)
    assert whole.answer == "".join(answer for _, answer in said)
    thoughts = "".join(thought for thought, _ in said)
    assert "".join(whole.thought.replace("‹", "<").split()) == "".join(thoughts.split())


def test_a_turn_speaks_the_answer_and_shows_the_thought() -> None:
    with serving(routes("vLLM, gpt-oss")) as server:
        settings = LlmSettings(engine="remote", url=server.url, continuations=0, decoder="ar", baseline=False)
        stage = create(SpeculationOptions.of(settings))
        list(stage.open(StageContext(VirtualClock(), never, logging.getLogger("test"))))
        events = [TurnStarted(turn=1), Transcript(turn=1, revision=1, stable="hi", final=True)]
        out = [event for sent in events for event in stage.handle(sent)]
        stage.close()
    (finished,) = (event for event in out if isinstance(event, ReplyFinished))
    assert finished.text.strip() == ANSWER
    assert finished.thought.text.startswith("The user greets me")


def test_a_server_that_calls_the_length_of_a_reply_otherwise_is_asked_so() -> None:
    """As OpenAI's own do for models that think, in their words."""
    usual = routes("OpenAI")
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."

    def chat(body: Fields) -> Any:
        if "max_tokens" in body:
            return Status(400, {"error": {"message": said}})
        return usual["/v1/chat/completions"]({**body, "max_tokens": body["max_completion_tokens"]})

    for mode in MODES:
        with serving(usual | {"/v1/chat/completions": chat}) as server:
            loaded = with_thinking(load(reference(server.url, "auto"), "remote"), mode, 100)
            assert parts(loaded).answer.strip() == ANSWER
            loaded.model.close()
