"""Every server that tells tokens is the model that it serves: in rows, in replies, in text and in its template."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest

from predtui.decoding.autoregressive import Autoregressive, generate
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.base import ContextOverflow, LoadedModel
from predtui.llm.load import inspect, load
from predtui.llm.remote import client
from predtui.llm.remote.address import reference
from predtui.llm.remote.dialects.models import parameters_in
from predtui.llm.rows import Unanswered
from predtui.predgen.algorithm import Prompt, Speculator
from predtui.predgen.verifiers import make_verifier
from predtui.state.events import Message
from tests.llm.remote.fake import Events, Fake, Status, in_turn, serving
from tests.llm.remote.imitations import CONTEXT, TELL_TOKENS, openai

SEED = 5
NEAR = load(str(SEED), "scripted")
PROMPT = NEAR.tokenizer.encode("what is the sun made of")
TALK = [Message("system", "be kind"), Message("user", "hi"), Message("assistant", "yes"), Message("user", "and now")]
PATHS = ("/props", "/version", "/get_model_info", "/v1/models", "/api/version", "/openapi.json")


@pytest.fixture(params=TELL_TOKENS)
def server(request: pytest.FixtureRequest) -> Iterator[Fake]:
    with serving(TELL_TOKENS[request.param](SEED)) as server:
        yield server


@pytest.fixture
def far(server: Fake) -> Iterator[LoadedModel]:
    loaded = load(reference(server.url, "auto"), "remote")
    yield loaded
    loaded.model.close()


def no_end(token: int) -> bool:
    return False


def test_what_it_generates_is_what_the_model_says_to_its_end(far: LoadedModel) -> None:
    wanted = list(generate(NEAR.model, PROMPT, Greedy(), 80, NEAR.tokenizer.is_end))
    said = list(generate(far.model, PROMPT, Greedy(), 80, far.tokenizer.is_end))
    assert said == wanted
    assert NEAR.tokenizer.is_end(wanted[-1]), "or the end is not tested"
    assert far.tokenizer.decode(said) == NEAR.tokenizer.decode(wanted)
    assert far.model.counters.forwards == 1
    assert (far.model.counters.generated, far.model.counters.cancelled) == (len(wanted), 0)


def test_an_end_is_known_though_no_more_was_asked_for(far: LoadedModel) -> None:
    """SGLang, and older vLLMs, then say that the reply is as long as it may be."""
    wanted = list(generate(NEAR.model, PROMPT, Greedy(), 80, NEAR.tokenizer.is_end))
    said = list(generate(far.model, PROMPT, Greedy(), len(wanted), far.tokenizer.is_end))
    assert said == wanted
    assert far.tokenizer.is_end(said[-1])


def test_a_verified_reply_ends_where_the_model_ends_it(far: LoadedModel) -> None:
    """Also where the end is told as what follows a candidate, before any reply has ended."""
    wanted = list(generate(NEAR.model, PROMPT, Greedy(), 80, NEAR.tokenizer.is_end))
    verifier = make_verifier("greedy", far, Greedy())
    speculator = Speculator(far, Autoregressive(far.model, Greedy()), verifier, reply_limit=200)
    for _ in speculator.advance(Prompt(PROMPT, enough=lambda made: len(made.tokens) == len(wanted) - 1)):
        pass
    assert list(speculator.candidate) == wanted[:-1]
    assert not far.tokenizer.is_end(wanted[-1]), "or the end is known"
    speculator.verify_by(verifier)
    *_, last = speculator.advance(Prompt(PROMPT))
    assert (list(last.tokens), last.ended) == (wanted, True)


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_it_generates_as_many_tokens_as_it_is_asked_for(far: LoadedModel, limit: int) -> None:
    wanted = list(generate(NEAR.model, PROMPT, Greedy(), limit, no_end))
    assert list(generate(far.model, PROMPT, Greedy(), limit, no_end)) == wanted
    assert len(wanted) == limit


def test_rows_are_the_models_as_far_as_the_server_tells_them(far: LoadedModel) -> None:
    last = 5 if far.abilities.verifies == "exact" else 1
    near, told = NEAR.model.forward(PROMPT, last), far.model.forward(PROMPT, last)
    assert len(told) == last
    assert told.finite
    count = far.abilities.top
    for row, other in zip(near, told, strict=True):
        assert list(other.top(count)) == list(row.top(count))
        assert [other.logprob(token) for token in row.top(count)] == pytest.approx(
            [row.logprob(token) for token in row.top(count)], abs=1e-5
        )
    for row, other, follows in zip(near, told, PROMPT[len(PROMPT) - last + 1 :], strict=False):
        assert other.logprob(follows) == pytest.approx(row.logprob(follows), abs=1e-5)
        assert min(other.rank(follows), count) == min(row.rank(follows), count)


def test_what_a_server_does_not_tell_is_not_made_up(far: LoadedModel) -> None:
    if far.abilities.verifies == "regenerates":
        with pytest.raises(Unanswered):
            far.model.forward(PROMPT, 2)
    for tokens, last in (([], 1), (PROMPT, 0), ([-1], 1), ([1 << 30], 1)):
        with pytest.raises(ValueError, match=r"last=|not within"):
            far.model.forward(tokens, last)
    with pytest.raises(ContextOverflow):
        far.model.forward([5] * (CONTEXT + 1))
    with pytest.raises(ContextOverflow):
        next(far.model.generate([5] * (CONTEXT + 1), 1))  # type: ignore[attr-defined]


def test_a_conversation_is_written_down_as_the_model_learned_it(far: LoadedModel) -> None:
    assert far.prompt_tokens(TALK) == NEAR.prompt_tokens(TALK)


def test_text_is_asked_for_once(server: Fake, far: LoadedModel) -> None:
    tokens = far.tokenizer.encode("the thing")
    assert far.tokenizer.decode(tokens) == "the thing"
    asked = len(server.asked)
    assert far.tokenizer.encode("the thing") == tokens
    assert far.tokenizer.decode(tokens[::-1]) == "gniht eht"
    assert len(server.asked) == asked


@pytest.mark.parametrize("cut", [True, False], ids=["the connection breaks", "the stream ends without a word"])
def test_a_reply_that_breaks_off_goes_on_where_it_was(cut: bool) -> None:
    for kind, routes in TELL_TOKENS.items():
        path = {"llama-server": "/completion", "vllm": "/v1/completions", "sglang": "/generate"}[kind]
        whole = routes(SEED)[path]
        count = itertools.count()

        def breaking(body: dict[str, object], whole: object = whole, count: Iterator[int] = count) -> object:
            answer = whole(body)  # type: ignore[operator]
            if isinstance(answer, Events) and next(count) < 3:
                return Events(itertools.islice(answer.said, 4), cut=cut)
            return answer

        with serving({**routes(SEED), path: breaking}) as server:
            far = load(reference(server.url, ""), "remote")
            wanted = list(generate(NEAR.model, PROMPT, Greedy(), 40, NEAR.tokenizer.is_end))
            with closing(far.model.generate(PROMPT, 40)) as said:  # type: ignore[attr-defined]
                got = list(said)
            assert got == wanted
            assert far.model.counters.forwards == 4
            far.model.close()


def test_giving_up_is_counted_with_all_that_had_come(far: LoadedModel) -> None:
    with closing(far.model.generate(PROMPT, 60)) as said:  # type: ignore[attr-defined]
        first = list(itertools.islice(said, 2))
    assert first == list(generate(NEAR.model, PROMPT, Greedy(), 2, no_end))
    assert far.model.counters.cancelled == 1
    assert far.model.counters.generated >= 2


def test_the_model_is_the_one_that_is_named(server: Fake) -> None:
    loaded = load(reference(server.url, "babble-7B"), "remote")
    assert loaded.name == "babble-7B", "what stands behind the last slash tells it apart"
    assert (loaded.engine, loaded.device) == ("remote", server.url)
    assert loaded.model.context_size == CONTEXT
    assert loaded.parameters in (1234, 7_000_000_000)
    loaded.model.close()
    small = load(reference(server.url, "babble-7B"), "remote", context=64)
    assert small.model.context_size == 64
    small.model.close()
    with pytest.raises(
        PredtuiError,
        match=r"has no model 'bable-7B'\. Did you mean --model (org/)?babble-7B\? It has (org/)?babble-7B:",
    ):
        load(reference(server.url, "bable-7B"), "remote")


def test_of_several_models_one_has_to_be_chosen() -> None:
    with serving(openai(SEED)) as server:
        with pytest.raises(PredtuiError, match=r"has 2 models: small, org/large\. Choose one with --model NAME"):
            inspect(reference(server.url, "auto"), "remote")
        with pytest.raises(
            PredtuiError, match=r"has no model 'medium'\. It has small, org/large: choose with --model NAME"
        ):
            inspect(reference(server.url, "medium"), "remote")
        assert inspect(reference(server.url, "large"), "remote").startswith(
            "org/large on an OpenAI-compatible server (me)"
        )
    with serving({"/v1/models": {"data": []}}) as server, pytest.raises(PredtuiError, match="no server of language"):
        inspect(reference(server.url, "auto"), "remote")


@pytest.mark.parametrize("routes", [{"/v1/models": "<html>Welcome"}, dict.fromkeys(PATHS, "<html>Welcome")])
def test_a_page_is_no_server_of_language_models(routes: dict[str, str]) -> None:
    with (
        serving(routes) as server,
        pytest.raises(PredtuiError, match=r"not JSON\. Is it a server of language models\?"),
    ):
        inspect(reference(server.url, "auto"), "remote")


def test_a_server_with_pages_beside_its_models_is_one() -> None:
    with serving(dict.fromkeys(PATHS, "<html>Welcome") | openai(SEED)) as server:
        assert "on an OpenAI-compatible server" in inspect(reference(server.url, "small"), "remote")


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (
            "llama-server",
            "babble-7B on llama-server b9999, candidates verified by generating again, context 512, 2 at once",
        ),
        ("vllm", "org/babble-7B on vLLM 0.28.0, candidates verified in one request, context 512, remembers prompts"),
        ("sglang", "org/babble-7B on SGLang 0.6.1, candidates verified in one request, context 512, remembers prompts"),
    ],
)
def test_a_line_tells_what_a_server_is_and_can(kind: str, line: str) -> None:
    with serving(TELL_TOKENS[kind](0)) as server:
        assert line in inspect(reference(server.url, "auto"), "remote")


@pytest.mark.parametrize("answer", [[], {"data": 3}, {"data": [3]}, "text", {"data": [{"id": None}]}, 7, {}])
@pytest.mark.parametrize("path", ["/props", "/v1/models", "/tokenize", "/detokenize", "/version", "/get_model_info"])
def test_a_server_that_answers_otherwise_is_refused_or_taken_for_another(path: str, answer: object) -> None:
    for routes in TELL_TOKENS.values():
        with serving({**routes(SEED), path: answer}) as server, suppress(PredtuiError):
            load(reference(server.url, ""), "remote").model.close()


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Qwen/Qwen2.5-0.5B-Instruct", 500_000_000),
        ("SmolLM2-135M", 135_000_000),
        ("meta-llama/Llama-3.1-8B", 8_000_000_000),
        ("mixtral", 0),
    ],
)
def test_the_size_of_a_model_may_stand_in_its_name(name: str, parameters: int) -> None:
    assert parameters_in("x", name) == parameters


def test_a_server_that_fails_for_a_moment_is_asked_again_within_a_turn() -> None:
    routes = dict(TELL_TOKENS["llama-server"](SEED))
    completion = routes["/completion"]
    with serving(routes) as server:
        far = load(reference(server.url, ""), "remote")
        failing = in_turn(Status(503, {"error": {"message": "busy"}}), None)

        def sometimes(body: object) -> object:
            return failing(body) or completion(body)  # type: ignore[operator]

        server.routes["/completion"] = sometimes
        wanted = list(generate(NEAR.model, PROMPT, Greedy(), 5, no_end))
        assert list(generate(far.model, PROMPT, Greedy(), 5, no_end)) == wanted
        far.model.close()


def said_in_text(chat: object, limit: int = 150) -> tuple[list[int], LoadedModel]:
    with serving({**openai(SEED), "/v1/chat/completions": chat}) as server:
        far = load(reference(server.url, "large"), "remote")
        prompt = far.prompt_tokens([Message("user", "what is the sun")])
        try:
            return list(far.model.generate(prompt, limit)), far  # type: ignore[attr-defined]
        finally:
            far.model.close()


@pytest.mark.parametrize("stop", [None, "", "abort"])
def test_a_text_that_ends_without_a_word_is_asked_for_again_and_is_whole(stop: str | None) -> None:
    whole = openai(SEED)["/v1/chat/completions"]
    wanted, _ = said_in_text(whole)
    count = itertools.count()

    def ending(body: dict[str, object]) -> object:
        said = whole(body).said  # type: ignore[operator]
        if next(count) > 1:
            return Events(said)
        cut = itertools.islice(said, 3)
        return Events([*cut, {"choices": [{"delta": {}, "finish_reason": stop}]}])

    said, far = said_in_text(ending)
    assert said == wanted
    assert len(said) > len(far.tokenizer.encode("It is"))
    assert next(count) == 3


def test_a_text_that_never_says_that_it_is_over_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "PATIENCE_S", 0.1)
    text = [{"choices": [{"delta": {"content": "It is so."}}]}]
    with pytest.raises(PredtuiError, match=r"ended its reply without saying that it is over\..*--engine llamacpp"):
        said_in_text(lambda _body: Events(text))


def test_a_text_as_long_as_was_asked_for_has_no_end() -> None:
    said, far = said_in_text(
        lambda _body: Events([{"choices": [{"delta": {"content": "It is"}, "finish_reason": "length"}]}])
    )
    assert far.tokenizer.decode(said) == "It is"
    assert not far.tokenizer.is_end(said[-1])
