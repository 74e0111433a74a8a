"""Servers of the scripted model, which answer in the documented forms of llama-server, vLLM, SGLang and OpenAI."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from predtui.llm.rows import Row
from predtui.llm.scripted import CharacterTokenizer, MarkedTemplate, ScriptedModel
from predtui.state.events import Message
from tests.llm.remote.fake import Events, Routes, Status

CONTEXT = 512
TEMPLATE = (
    "{% for m in messages %}{{ {'system': '\x02', 'user': '\x03', 'assistant': '\x04'}[m.role] }}{{ m.content }}\x01"
    "{% endfor %}\x04"
)
_TOKENIZER = CharacterTokenizer()
_MARKS = {1: "</s>", 2: "<|system|>", 3: "<|user|>", 4: "<|assistant|>"}
"""Special tokens of the tokenizer, by what they are spelt with."""


def _likeliest(row: Row, count: int) -> list[tuple[int, float]]:
    return [(token, row.logprob(token)) for token in row.top(count)]


def _spelt(tokens: list[int]) -> str:
    """With special tokens."""
    symbols = [next(c for c in map(chr, range(256)) if _TOKENIZER.encode(c, True) == [t]) for t in tokens]
    return "".join(symbols)


def _written(tokens: list[int]) -> str:
    """With special tokens, as Hugging Face's tokenizers write them."""
    return _spelt(tokens).translate(_MARKS)


def read(text: str) -> list[int]:
    """What ``_written`` writes."""
    for symbol, mark in _MARKS.items():
        text = text.replace(mark, chr(symbol))
    return _TOKENIZER.encode(text, special=True)


def _greedy(seed: int, prompt: list[int], limit: int) -> Iterator[int]:
    model, context = ScriptedModel(seed), list(prompt)
    for _ in range(limit):
        context.append(model.forward(context)[0].argmax())
        yield context[-1]
        if _TOKENIZER.is_end(context[-1]):
            return


def _rendered(messages: list[dict[str, str]]) -> list[int]:
    said = [Message(message["role"], message["content"]) for message in messages]  # type: ignore[arg-type]
    return _TOKENIZER.encode(MarkedTemplate().render(said), special=True)


def llama_server(seed: int) -> Routes:
    def tokenize(body: dict[str, Any]) -> Any:
        tokens = _TOKENIZER.encode(body["content"], body.get("parse_special", True))
        if not body.get("with_pieces"):
            return {"tokens": tokens}
        return {"tokens": [{"id": token, "piece": _spelt([token])} for token in tokens]}

    def completion(body: dict[str, Any]) -> Any:
        prompt, limit = body["prompt"], body["n_predict"]
        if len(prompt) > CONTEXT:
            return Status(400, {"error": {"message": "the request exceeds the available context size"}})
        tokens = list(_greedy(seed, prompt, limit))
        if body.get("stream"):
            return Events(_llama_events(tokens, limit), done=False)
        row = ScriptedModel(seed).forward(prompt)[0]
        told = [{"id": token, "logprob": logprob} for token, logprob in _likeliest(row, body.get("n_probs", 0))]
        first = {"id": tokens[0], "top_logprobs": told}
        return {"content": "", "tokens": tokens, "stop": True, "completion_probabilities": [first]}

    return {
        "/props": {
            "default_generation_settings": {"n_ctx": CONTEXT},
            "total_slots": 2,
            "build_info": "b9999",
            "chat_template": TEMPLATE,
            "bos_token": "",
            "eos_token": "\x01",
        },
        "/v1/models": {
            "data": [{"id": "babble-7B", "meta": {"n_params": 1234, "n_vocab": ScriptedModel(seed).vocab_size}}]
        },
        "/tokenize": tokenize,
        "/detokenize": lambda body: {"content": _spelt(body["tokens"])},
        "/completion": completion,
    }


def _llama_events(tokens: list[int], limit: int) -> Iterator[dict[str, Any]]:
    for number, token in enumerate(tokens, 1):
        text = _TOKENIZER.decode([token])
        yield {"content": text, "tokens": [token], "stop": False, "tokens_predicted": number, "id_slot": 0}
    ended = bool(tokens) and _TOKENIZER.is_end(tokens[-1])
    stopped = {"stop": True, "stop_type": "eos" if ended else "limit"}
    yield {"content": "", "tokens": [], "tokens_predicted": len(tokens), **stopped}


def vllm(seed: int) -> Routes:
    def tokenize(body: dict[str, Any]) -> Any:
        if "messages" in body:
            return {"tokens": _rendered(body["messages"])}
        return {"tokens": read(body["prompt"])}

    def completions(body: dict[str, Any]) -> Any:
        prompt, limit = body["prompt"], body["max_tokens"]
        if body.get("stream"):
            return Events(_vllm_events(list(_greedy(seed, prompt, limit)), limit))
        rows = ScriptedModel(seed).forward(prompt, len(prompt))
        after = {f"token_id:{token}": told for token, told in _likeliest(rows[-1], body["logprobs"])}
        choice: dict[str, Any] = {"text": "", "logprobs": {"top_logprobs": [after]}, "finish_reason": "length"}
        if count := body.get("prompt_logprobs"):
            given = zip(list(rows)[:-1], prompt[1:], strict=True)
            choice["prompt_logprobs"] = [None, *(_vllm_position(row, token, count) for row, token in given)]
        return {"choices": [choice]}

    return {
        "/version": {"version": "0.28.0"},
        "/v1/models": {"data": [{"id": "org/babble-7B", "owned_by": "vllm", "max_model_len": CONTEXT}]},
        "/tokenize": tokenize,
        "/detokenize": lambda body: {"prompt": _written(body["tokens"])},
        "/v1/completions": completions,
    }


def _vllm_position(row: Row, own: int, count: int) -> dict[str, Any]:
    told = {str(t): {"logprob": p, "rank": rank} for rank, (t, p) in enumerate(_likeliest(row, count), 1)}
    return told | {str(own): {"logprob": row.logprob(own), "rank": row.rank(own) + 1}}


def _vllm_events(tokens: list[int], limit: int) -> Iterator[dict[str, Any]]:
    for number, token in enumerate(tokens, 1):
        reason = "length" if number == limit else "stop" if _TOKENIZER.is_end(token) else None
        told = {"tokens": [f"token_id:{token}"], "token_logprobs": [-0.1]}
        text = _TOKENIZER.decode([token])
        yield {"choices": [{"text": text, "token_ids": [token], "logprobs": told, "finish_reason": reason}]}
    yield {"choices": [], "usage": {"completion_tokens": len(tokens)}}


def sglang(seed: int) -> Routes:
    def generate(body: dict[str, Any]) -> Any:
        prompt, limit = body["input_ids"], body["sampling_params"]["max_new_tokens"]
        tokens = list(_greedy(seed, prompt, limit))
        if body.get("stream"):
            return Events(_sglang_events(tokens, limit))
        start, count = body["logprob_start_len"], body["top_logprobs_num"]
        rows = ScriptedModel(seed).forward(prompt, len(prompt) - start)
        told = [[[p, token, None] for token, p in _likeliest(row, count)] for row in rows]
        own = [[row.logprob(token), token, None] for row, token in zip(rows, prompt[start + 1 :], strict=False)]
        about = {
            "input_top_logprobs": [None, *told[:-1]],
            "input_token_logprobs": [[None, prompt[start], None], *own],
            "output_top_logprobs": told[-1:],
            "completion_tokens": 1,
            "finish_reason": {"type": "length", "length": 1},
        }
        return {"text": "", "output_ids": tokens, "meta_info": about}

    return {
        "/get_model_info": {"model_path": "org/babble-7B", "is_generation": True},
        "/get_server_info": {"version": "0.6.1", "disable_radix_cache": False},
        "/v1/models": {"data": [{"id": "org/babble-7B", "owned_by": "sglang", "max_model_len": CONTEXT}]},
        "/tokenize": lambda body: {"tokens": read(body["prompt"])},
        "/detokenize": lambda body: {"text": _written(body["tokens"])},
        "/v1/chat/completions": lambda body: {"prompt_token_ids": _rendered(body["messages"])},
        "/generate": generate,
    }


def _sglang_events(tokens: list[int], limit: int) -> Iterator[dict[str, Any]]:
    for number, token in enumerate(tokens, 1):
        finish: dict[str, Any] | None = {"type": "stop", "matched": token} if _TOKENIZER.is_end(token) else None
        if number == limit:  # whatever its last token is
            finish = {"type": "length", "length": limit}
        about = {"completion_tokens": number, "finish_reason": finish}
        yield {"text": _TOKENIZER.decode(tokens[:number]), "output_ids": tokens[:number], "meta_info": about}


def openai(seed: int) -> Routes:
    def chat(body: dict[str, Any]) -> Any:
        tokens = list(_greedy(seed, _rendered(body["messages"]), body["max_tokens"]))
        return Events(_chat_events(tokens))

    models = {"data": [{"id": "small", "owned_by": "me"}, {"id": "org/large", "owned_by": "me"}]}
    return {"/v1/models": models, "/v1/chat/completions": chat}


def _chat_events(tokens: list[int]) -> Iterator[dict[str, Any]]:
    yield {"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
    for token in tokens:
        yield {"choices": [{"delta": {"content": _TOKENIZER.decode([token])}, "finish_reason": None}]}
    ended = bool(tokens) and _TOKENIZER.is_end(tokens[-1])
    yield {"choices": [{"delta": {}, "finish_reason": "stop" if ended else "length"}]}
    yield {"choices": [], "usage": {"completion_tokens": len(tokens)}}


TELL_TOKENS: dict[str, Callable[[int], Routes]] = {"llama-server": llama_server, "vllm": vllm, "sglang": sglang}
