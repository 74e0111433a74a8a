"""A draft model here for a model on a server: over SGLang's and vLLM's dialects the reply is the server's own, what
tokens spell is not asked of the server, and a draft with another vocabulary is refused in a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from predtui.clock import VirtualClock
from predtui.decoding.assembly import Assembly, DecodingOptions, assemble
from predtui.decoding.autoregressive import generate
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.remote import client
from predtui.llm.remote.address import reference
from predtui.llm.scripted import CharacterTokenizer
from tests.llm.remote.fake import Fake, Route, Status, serving
from tests.llm.remote.imitations import TELL_TOKENS, llama_server, read

SEED = 5
NEAR = load(str(SEED), "scripted")
PROMPTS = [NEAR.tokenizer.encode(text) for text in ("what is the sun", "who are you", "why", "and the moon")]
VERIFIED = {"sglang": "/generate", "vllm": "/v1/completions"}


class Spelling(CharacterTokenizer):
    """As a model's own vocabulary tells it."""

    def encode(self, text: str, special: bool = False) -> list[int]:
        return read(text) if special else super().encode(text)

    def piece(self, token: int) -> bytes:
        return self.decode([token]).encode()


class Another(CharacterTokenizer):
    def encode(self, text: str, special: bool = False) -> list[int]:
        return [token + (token > 20) for token in super().encode(text, special)]


DRAFT = replace(NEAR, name="small", tokenizer=Spelling())


def far(server: Fake) -> LoadedModel:
    return load(reference(server.url, "auto"), "remote")


def hybrid(decoder: str, target: LoadedModel, draft: LoadedModel) -> Assembly:
    clock = VirtualClock()  # on which nothing takes any time: all ways are as fast, and tried again and again
    return assemble(DecodingOptions(decoder), target, Greedy(), Instrument(clock), loader=lambda *_: draft)


def wanted(prompt: list[int]) -> list[int]:
    return list(generate(NEAR.model, prompt, Greedy(), 60, NEAR.tokenizer.is_end))


@pytest.mark.parametrize("decoder", ["speculative", "duo"])
@pytest.mark.parametrize("kind", VERIFIED)
def test_the_reply_is_the_servers_own(kind: str, decoder: str) -> None:
    with serving(TELL_TOKENS[kind](SEED)) as server:
        target = far(server)
        made = hybrid(decoder, target, DRAFT)
        before = Counter(path for path, *_ in server.asked)
        for prompt in PROMPTS:
            said = list(made.decoder.generate(prompt, 60, target.tokenizer.is_end))
            assert said == wanted(prompt)
            assert target.tokenizer.decode(said) == NEAR.tokenizer.decode(said)
        asked = Counter(path for path, *_ in server.asked) - before
        assert made.decoder.statistics.accepted, "or nothing was verified"
        assert asked.keys() == {VERIFIED[kind]}, "no token is asked for what it spells"
        made.close()
        target.model.close()


def sometimes(whole: Route, every: int) -> Callable[[object], object]:
    count = [0]

    def answer(body: object) -> object:
        count[0] += 1
        return Status(503) if count[0] % every == 0 else whole(body)  # type: ignore[operator]

    return answer


@pytest.mark.parametrize("decoder", ["speculative", "duo"])
@pytest.mark.parametrize("kind", VERIFIED)
def test_a_server_that_fails_in_the_midst_is_asked_again(
    kind: str, decoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FIRST_PAUSE_S", 0.01)
    with serving(TELL_TOKENS[kind](SEED)) as server:
        target = far(server)
        made = hybrid(decoder, target, DRAFT)
        server.routes[VERIFIED[kind]] = sometimes(server.routes[VERIFIED[kind]], 3)
        for prompt in PROMPTS:
            assert list(made.decoder.generate(prompt, 60, target.tokenizer.is_end)) == wanted(prompt)
        made.close()
        target.model.close()


@pytest.mark.parametrize("decoder", ["speculative", "duo"])
def test_another_vocabulary_is_refused_in_a_line(decoder: str) -> None:
    with serving(TELL_TOKENS["vllm"](SEED)) as server:
        target = far(server)
        with pytest.raises(
            PredtuiError, match=r"small cannot draft for babble-7B at http.*vocabularies differ"
        ) as told:
            hybrid(decoder, target, replace(DRAFT, tokenizer=Another()))
        assert "\n" not in str(told.value)
        assert "--draft" in told.value.remedy
        target.model.close()


@pytest.mark.parametrize("decoder", ["speculative", "duo"])
def test_where_the_server_only_generates_it_is_refused_in_a_line(decoder: str) -> None:
    with serving(llama_server(SEED)) as server:
        target = far(server)
        with pytest.raises(PredtuiError, match=f"decoder {decoder} needs an engine that tells what it would say"):
            hybrid(decoder, target, DRAFT)
        target.model.close()
