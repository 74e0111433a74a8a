"""Templates that a server renders are told how much to think as those rendered here are, to the same prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.remote.address import reference
from predtui.llm.templates import JinjaTemplate
from predtui.llm.thinking import with_thinking
from predtui.state.events import Message
from tests import thinkers
from tests.llm.remote.fake import Routes, Status, serving
from tests.thinkers import MARKS, MarkTokenizer, loaded

ASK = [Message("system", "Be brief."), Message("user", "Why?")]
TEMPLATES = {
    "Qwen3": (thinkers.QWEN3, "think"),
    "EXAONE 4": (thinkers.EXAONE, "think"),
    "DeepSeek V3.1": (thinkers.V31, "think"),
    "SmolLM3": (thinkers.SMOLLM3, "think"),
    "R1 distill": (thinkers.DISTILLED, "think"),
    "gpt-oss": (thinkers.HARMONY, "harmony"),
    "one that cannot think": (thinkers.CHATML, "spelled"),
}
BROKEN = "{% nonsense %}"
"""What a server may know and jinja2 does not."""


class Rendering:
    """A server's tokenizer and template. ``takes``: whether it lets a request have variables for that."""

    def __init__(self, source: str, marks: str, takes: bool = True) -> None:
        self.tokenizer, self.source, self.takes = MarkTokenizer(MARKS[marks], defined=True), source, takes

    def tokens(self, body: Mapping[str, Any]) -> list[int] | Status:
        """Of a conversation."""
        variables = body.get("chat_template_kwargs", {})
        if variables and not self.takes:
            return Status(400, {"error": "unknown field chat_template_kwargs"})
        messages = [Message(one["role"], one["content"]) for one in body["messages"]]
        return self.tokenizer.encode(JinjaTemplate(self.source, "", "</s>").told(variables).render(messages), True)


def vllm(served: Rendering) -> Routes:
    def tokenize(body: Any) -> Any:
        tokens = served.tokens(body) if "messages" in body else served.tokenizer.encode(body["prompt"], True)
        return tokens if isinstance(tokens, Status) else {"tokens": tokens}

    return {
        "/version": {"version": "0.28.0"},
        "/v1/models": {"data": [{"id": "m", "owned_by": "vllm"}]},
        "/tokenize": tokenize,
        "/detokenize": lambda body: {"prompt": served.tokenizer.decode(body["tokens"])},
    }


def sglang(served: Rendering) -> Routes:
    def chat(body: Any) -> Any:
        tokens = served.tokens(body)
        return tokens if isinstance(tokens, Status) else {"choices": [{"prompt_token_ids": tokens}]}

    return {
        "/get_model_info": {"model_path": "m"},
        "/get_server_info": {"version": "0.6.1"},
        "/v1/models": {"data": [{"id": "m"}]},
        "/tokenize": lambda body: {"tokens": served.tokenizer.encode(body["prompt"], True)},
        "/detokenize": lambda body: {"text": served.tokenizer.decode(body["tokens"])},
        "/v1/chat/completions": chat,
    }


def llama_server(served: Rendering) -> Routes:
    def tokenize(body: Any) -> Any:
        tokens = served.tokenizer.encode(body["content"], True)
        if not body.get("with_pieces"):
            return {"tokens": tokens}
        return {"tokens": [{"id": token, "piece": served.tokenizer.decode([token])} for token in tokens]}

    def rendered(body: Any) -> Any:
        tokens = served.tokens(body)
        return tokens if isinstance(tokens, Status) else {"prompt": served.tokenizer.decode(tokens)}

    return {
        "/props": {
            "default_generation_settings": {"n_ctx": 512},
            "chat_template": served.source + BROKEN,
            "eos_token": "",
        },
        "/v1/models": {"data": [{"id": "m", "meta": {"n_vocab": served.tokenizer.size}}]},
        "/tokenize": tokenize,
        "/detokenize": lambda body: {"content": served.tokenizer.decode(body["tokens"])},
        "/apply-template": rendered,
    }


SERVERS = {"vllm": vllm, "sglang": sglang, "llama-server": llama_server}


def prompt(model: LoadedModel) -> str:
    return model.template.render(ASK)


@pytest.mark.parametrize("mode", ["off", "brief", "on"])
@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_writes_what_would_be_written_here(kind: str, name: str, mode: str) -> None:
    source, marks = TEMPLATES[name]
    near = with_thinking(loaded(source, MarkTokenizer(MARKS[marks])), mode, 500)
    with serving(SERVERS[kind](Rendering(source, marks))) as server:
        engine = load(reference(server.url, "auto"), "remote")
        far = with_thinking(engine, mode, 500)
        assert prompt(far) == prompt(near)
        engine.model.close()
    if near.thinking is None or far.thinking is None:
        assert near.thinking == far.thinking
        return
    assert (far.thinking.within, far.thinking.budget) == (near.thinking.within, near.thinking.budget)


@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_that_takes_no_variables_writes_what_it_does_without(kind: str) -> None:
    """What the model then thinks is ended as it begins."""
    with serving(SERVERS[kind](Rendering(thinkers.QWEN3, "think", takes=False))) as server:
        engine = load(reference(server.url, "auto"), "remote")
        far = with_thinking(engine, "off", 500)
        assert "<|im_start|>assistant\n" in prompt(far)
        assert far.thinking is not None
        assert far.thinking.budget == 0
        engine.model.close()


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_a_server_that_writes_no_more_prompts_is_told_of(kind: str) -> None:
    with serving(SERVERS[kind](Rendering(thinkers.QWEN3, "think"))) as server:
        engine = load(reference(server.url, "auto"), "remote")
        server.routes = {path: answer for path, answer in server.routes.items() if "detokenize" in path}
        with pytest.raises(PredtuiError, match=r"The server writes no prompts any more\."):
            prompt(engine)
        engine.model.close()
