"""Models that think, without weights: their tokenizers, templates in the structure of published ones, what they say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from predtui.llm.abilities import Abilities
from predtui.llm.base import Counters, LanguageModel, LoadedModel, check_request, common_prefix, reusable
from predtui.llm.rows import ArrayRows, Rows
from predtui.llm.templates import JinjaTemplate

END = 0
_FIRST_MARK = 256
MARKS = {
    "think": ("<|im_start|>", "<|im_end|>", "<think>", "</think>"),
    "harmony": ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>"),
    "magistral": ("[INST]", "[/INST]", "[THINK]", "[/THINK]"),
    "spelled": ("<|im_start|>", "<|im_end|>"),
}
"""Marks that are tokens. Those of "spelled" are not its thoughts'."""

QWEN3 = """
{%- for message in messages %}{%- set content = message.content %}
    {%- if message.role == 'assistant' and '</think>' in content %}
        {%- set content = content.split('</think>')[-1].lstrip('\n') %}
    {%- endif %}
    {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}
{%- endif %}"""
EXAONE = QWEN3.replace(
    "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}",
    "{%- if enable_thinking is defined and enable_thinking %}{{- '<think>\n' }}"
    "{%- else %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}",
)
DISTILLED = """{{ bos_token }}{% for message in messages %}
{%- if message['role'] == 'assistant' %}{{- '<|im_start|>' + message['content'].split('</think>')[-1] + '<|im_end|>' }}
{%- else %}{{- message['content'] }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|><think>\n' }}{% endif %}"""
OPENS_ITSELF = DISTILLED.replace("<|im_start|><think>\n", "<|im_start|>")
V31 = """{% if not thinking is defined %}{% set thinking = false %}{% endif %}
{%- for message in messages %}{{- message.role + ': ' + message.content + '<|im_end|>' }}{% endfor %}
{%- if add_generation_prompt %}{{- 'assistant: ' }}{% if thinking %}{{- '<think>' }}{% else %}{{- '</think>' }}
{%- endif %}{% endif %}"""
SMOLLM3 = """{%- set mode = '/no_think' if enable_thinking is defined and not enable_thinking else '/think' %}
{{- '<|im_start|>system\nReasoning Mode: ' + mode + '\n' }}
{%- for message in messages %}{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}
{%- if mode == '/no_think' %}{{- '<think>\n\n</think>\n' }}
{%- endif %}{%- endif %}"""
HARMONY = """{%- if reasoning_effort is not defined %}{%- set reasoning_effort = "medium" %}{%- endif %}
{{- "<|start|>system<|message|>Reasoning: " + reasoning_effort + "\n# Valid channels: analysis, final.<|end|>" }}
{%- for message in messages %}
    {%- if message.role == 'assistant' %}
        {%- if "<|channel|>analysis<|message|>" in message.content
            or "<|channel|>final<|message|>" in message.content %}
            {{- raise_exception("channels are not content") }}
        {%- endif %}
        {{- "<|start|>assistant<|channel|>final<|message|>" + message.content + "<|end|>" }}
    {%- else %}
        {{- "<|start|>" + message.role + "<|message|>" + message.content + "<|end|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- "<|start|>assistant" }}{%- endif %}"""
MAGISTRAL = """{%- set usual = 'First draft your thoughts, like this: [THINK]draft[/THINK], then answer.' %}
{%- for message in messages %}{%- if message.role == 'assistant' %}{{- message.content + eos_token }}
{%- else %}{{- '[INST]' + message.content + '[/INST]' }}{%- endif %}{%- endfor %}"""
NORTH = """{%- set reasoning = reasoning if reasoning is not undefined else
  (false if reasoning_effort is defined and reasoning_effort == "none" else true) %}
{%- for message in messages %}{{- '<|START_OF_TURN_TOKEN|>' + message.content + '<|END_OF_TURN_TOKEN|>' }}{%- endfor %}
{{- '<|CHATBOT_TOKEN|><|START_THINKING|>' }}{%- if not reasoning %}{{- '<|END_THINKING|>' }}{%- endif %}"""
COMMAND = """{%- for message in messages %}{{- message.content }}{#- <|START_THINKING|> and so on, with tools -#}
{%- endfor %}{{- '<|CHATBOT_TOKEN|>' }}"""
GEMMA4 = """{%- if enable_thinking is defined and enable_thinking %}{{- '<|turn>system\n<|think|>' }}{%- endif %}
{%- for message in messages %}
{{- '<|turn>' + message.role + '\n' + message.content.split('<channel|>')[-1] + '<turn|>\n' }}
{%- endfor %}{{- '<|turn>model\n' }}{%- if not enable_thinking | default(false) %}{{- '<|channel>thought\n<channel|>' }}
{%- endif %}"""
SEED = """{%- set think = '<seed:think>' %}
{%- if not thinking_budget is defined %}{%- set thinking_budget = -1 %}{%- endif %}
{%- for message in messages %}{{- message.role + '\n' + message.content }}{%- endfor %}{{- '\nassistant\n' }}
{%- if thinking_budget == 0 %}
{{- think + '<seed:cot_budget_reflect>None is left.</seed:cot_budget_reflect></seed:think>' }}
{%- endif %}"""
NEMOTRON = """{%- for message in messages %}{{- message.role + '\n' + message.content.split('</think>')[-1] + '\n' }}
{%- endfor %}{{- 'assistant\n<think>\n\n' }}"""
GRANITE = """{%- if thinking is defined and thinking %}
{{- "Write your thoughts after 'Here is my thought process:' and your response after 'Here is my response:'." }}
{%- endif %}{%- for message in messages %}{{- message.role + '\n' + message.content + '\n' }}{%- endfor %}
{{- 'assistant\n' }}"""
CHATML = """{%- for message in messages %}{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}{{- '<|im_start|>assistant\n' }}"""


class MarkTokenizer:
    """A token is a letter of Latin 1, or a mark. ``defined``: whether marks are found in words too, and shown, as those
    that llama.cpp calls user-defined are."""

    def __init__(self, marks: Sequence[str], defined: bool = False) -> None:
        self._marks = {mark: _FIRST_MARK + number for number, mark in enumerate(marks)}
        self._names = {token: mark for mark, token in self._marks.items()}
        self._defined = defined
        self._pattern = re.compile("|".join([*map(re.escape, marks), "."]), re.DOTALL)

    @property
    def size(self) -> int:
        return _FIRST_MARK + len(self._marks)

    def encode(self, text: str, special: bool = False) -> list[int]:
        known = self._marks if special or self._defined else {}
        pieces = self._pattern.findall(text)
        return [token for piece in pieces for token in ([known[piece]] if piece in known else map(_letter, piece))]

    def decode(self, tokens: Sequence[int]) -> str:
        names = self._names if self._defined else {}
        return "".join(names.get(t, "") if t >= _FIRST_MARK else chr(t) for t in tokens if t != END)

    def is_end(self, token: int) -> bool:
        return token == END


def _letter(letter: str) -> int:
    return ord(letter) if 0 < ord(letter) < _FIRST_MARK else ord("?")


class Thoughtful:
    """A ``LanguageModel`` out of ``_scores``, with a model's counters and memory; it evaluates trees."""

    context_size = 1 << 15

    def __init__(self, tokenizer: MarkTokenizer) -> None:
        self.counters = Counters()
        self.vocab_size = tokenizer.size
        self.abilities = replace(Abilities.of_logits(self.vocab_size), trees=True)
        self._tokenizer = tokenizer
        self._memory: list[int] = []

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        kept = reusable(self._memory, tokens, last, self.context_size, self.vocab_size)
        self.counters.forwards += 1
        self.counters.tokens += len(tokens) - kept
        self._memory = list(tokens)
        ends = range(len(tokens) - last + 1, len(tokens) + 1)
        return ArrayRows(np.stack([self._scores(tokens[:end]) for end in ends]))

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        check_request(tokens, 1, self.context_size - len(tree))
        paths = [list(tokens)]
        for token, parent in zip(tree, parents, strict=True):
            paths.append([*paths[parent + 1], token])
        self.counters.forwards += 1
        self.counters.tokens += len(tokens) - min(common_prefix(self._memory, tokens), len(tokens) - 1) + len(tree)
        self._memory = list(tokens)
        return ArrayRows(np.stack([self._scores(path) for path in paths]))

    def forget(self, keep: int = 0) -> None:
        del self._memory[keep:]

    def close(self) -> None:
        """Nothing is open."""

    def _scores(self, tokens: Sequence[int]) -> np.ndarray:
        raise NotImplementedError


class Babbler(Thoughtful):
    """Says anything, marks among it, depending on the last three tokens and, as one of two moods, on all before."""

    def __init__(self, tokenizer: MarkTokenizer, seed: int = 0) -> None:
        super().__init__(tokenizer)
        likely = [END, *map(ord, " .\naeinot<>"), *range(_FIRST_MARK, tokenizer.size)]
        self._table = np.full((509, self.vocab_size), -20, np.float32)
        self._table[:, likely] = np.random.default_rng(seed).normal(size=(509, len(likely)))
        self._table[:, END] -= 1

    def _scores(self, tokens: Sequence[int]) -> np.ndarray:
        state = sum(tokens[:-3]) % 2
        for token in tokens[-3:]:
            state = state * 131 + token + 1
        return self._table[state % len(self._table)]


class Reciter(Thoughtful):
    """Says what ``say`` has it say to a prompt: marks, letters, then the end. Where its thought is ended for it, it
    goes on with what it says behind its own."""

    def __init__(
        self, tokenizer: MarkTokenizer, say: Callable[[str], str], start: str, close: str, after: str = ""
    ) -> None:
        """``start``: the mark that its replies begin behind, the first one ``after`` the last of another, where that is
        given, else the last one; ``close``: the last mark of a thought."""
        super().__init__(tokenizer)
        self._say = say
        self._start, self._close, self._after = (tokenizer.encode(mark, special=True) for mark in (start, close, after))
        self.context_size = 4096

    def _scores(self, tokens: Sequence[int]) -> np.ndarray:
        begin = self._begin(tokens)
        prompt = self._tokenizer.decode(tokens[:begin])
        said, reply = [*tokens[begin:]], [*self._tokenizer.encode(self._say(prompt), special=True), END]
        if said != reply[: len(said)]:
            said, reply = said[_behind(said, self._close) :], reply[_behind(reply, self._close) :]
        scores = np.zeros(self.vocab_size, np.float32)
        scores[reply[len(said)] if said == reply[: len(said)] and len(said) < len(reply) else END] = 9
        return scores

    def _begin(self, tokens: Sequence[int]) -> int:
        """Where the reply begins."""
        if not self._after:
            return _behind(tokens, self._start)
        asked, size = _behind(tokens, self._after), len(self._start)
        places = (end for end in range(asked + size, len(tokens) + 1) if tokens[end - 1] == self._start[-1])
        return next((end for end in places if [*tokens[end - size : end]] == self._start), 0)


def _behind(tokens: Sequence[int], mark: Sequence[int]) -> int:
    """Where the last ``mark`` ends; 0 where there is none."""
    last, size, known = mark[-1], len(mark), list(tokens)
    places = (end for end in range(len(known), size - 1, -1) if known[end - 1] == last)
    return next((end for end in places if known[end - size : end] == list(mark)), 0)


def loaded(source: str, tokenizer: MarkTokenizer, model: LanguageModel | None = None) -> LoadedModel:
    """A model with this template."""
    model = model or Babbler(tokenizer)
    return LoadedModel("thinker", "scripted", "cpu", 0, model, tokenizer, JinjaTemplate(source, "", "</s>"))
