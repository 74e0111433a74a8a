"""The bench over servers: its figures are those of its turns; ten assistants at one server each say their own words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.lab.bench import remote
from predtui.lab.bench.servers import KINDS, Serving
from predtui.lab.bench.streams import Dialogue, typed
from predtui.llm.scripted import CharacterTokenizer, MarkedTemplate, ScriptedModel
from predtui.predgen.options import SpeculationOptions
from predtui.state.events import Message
from tests.llm.remote.fake import Events, Fake, serving

KEYS_A_MINUTE = 60_000.0
ASKED = ["what is the sun", "why is it so", "no", "made of what is the sun", "is it", "of what", "what is it made of"]
ASKED += ["the sun is what", "what sun", "why"]


def babble(body: Any) -> Events:
    """What the scripted model says to the messages, a chunk at a time."""
    messages = [Message(message["role"], message["content"]) for message in body["messages"]]
    tokenizer, model = CharacterTokenizer(), ScriptedModel(5, context=4096)
    context = tokenizer.encode(MarkedTemplate().render(messages), special=True)
    said: list[Any] = []
    for _ in range(int(body["max_tokens"])):
        context.append(model.forward(context)[0].argmax())
        if tokenizer.is_end(context[-1]):
            break
        said.append({"choices": [{"delta": {"content": tokenizer.decode(context[-1:])}}]})
    return Events([*said, {"choices": [{"delta": {}, "finish_reason": "stop"}]}])


def bench(**changes: Any) -> remote.RemoteBench:
    chosen: dict[str, Any] = {
        "kinds": ["llama_cpp"],
        "dialogues": [Dialogue((typed(text, KEYS_A_MINUTE),)) for text in ASKED],
        "budgets": [4.0],
        "assistants": 10,
        "options": SpeculationOptions(engine="remote", system="sys", reply_tokens=60),
        "serving": Serving(Path("model.gguf")),
    }
    return remote.RemoteBench(**(chosen | changes))


def test_ten_assistants_at_one_server_each_say_their_own_words() -> None:
    routes = {"/v1/models": {"data": [{"id": "babble"}]}, "/v1/chat/completions": babble}
    with serving(routes) as fake:
        assert isinstance(fake, Fake)
        many = bench()
        found = remote.at_once(many, replace(many.options, model=fake.url))
    assert (found["assistants"], found["answered"], found["own_words_share"]) == (10, 10, 1.0)
    assert found["ttfs_ms"] <= found["longest_ms"]


TURN = {
    "server": "llama_cpp",
    "proof": "text",
    "asks": "words",
    "method": "budget 4",
    "prompt": "a",
    "outcome": "accept",
}
turns = st.fixed_dictionaries(
    {name: st.integers(0, 90) for name in ("requests", "cancelled", "generated", "wasted", "tokens")}
    | {name: st.none() | st.floats(0, 1e4) for name in ("ttfs_ms", "audio_latency_ms")}
    | {"identical": st.booleans(), "reply": st.just("b")}
)


@given(st.lists(turns, max_size=5), st.lists(turns, max_size=3))
@settings(max_examples=50)
def test_a_row_is_of_the_turns_of_its_server_and_method(
    ours: list[dict[str, Any]], others: list[dict[str, Any]]
) -> None:
    group = [TURN | turn for turn in ours]
    row = remote.row("llama_cpp", "budget 4", [*group, *(TURN | turn | {"method": "without"} for turn in others)])
    assert row["n"] == len(ours)
    for name in ("requests", "cancelled", "wasted"):
        wanted = sum(turn[name] for turn in ours) / len(ours) if ours else None
        assert row[name] == (wanted if wanted is None else pytest.approx(wanted, abs=1e-2))
    spoken = sum(turn["tokens"] for turn in ours)
    assert (row["wasted_per_spoken"] is None) == (spoken == 0)
    assert remote.table({"rows": [row], "machine": "here"}).row_count == 1
    assert all("a" in remote.as_line(turn) for turn in group)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_is_told_its_model_its_port_and_its_threads(kind: str) -> None:
    command = " ".join(KINDS[kind].command(Serving(Path("/models/it/model.gguf"), threads=3), 4321, "/made"))
    assert "/models/it" in command
    assert "4321" in command
    assert "127.0.0.1" in command
