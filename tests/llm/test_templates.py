"""Templates written here in the manner of the families that people run."""

from __future__ import annotations

import pytest

from predtui.errors import PredtuiError
from predtui.llm.templates import JinjaTemplate
from predtui.state.events import Message

SYSTEM = Message("system", "Be brief.")
ASK, REPLY, AGAIN = Message("user", "Hi?"), Message("assistant", "Yes."), Message("user", "Why?")

QWEN = """
{%- if messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role != 'system' %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
"""
LLAMA3 = """{% set loop_messages = messages %}{% for message in loop_messages %}
{% set head = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' %}
{% set content = head + message['content'] | trim + '<|eot|>' %}
{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}
{{- content }}
{%- endfor %}
{% if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"""
MISTRAL = """{{- bos_token }}{% for message in messages %}
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('roles must alternate') }}
{% endif %}
{% if message['role'] == 'user' %}{{- '[INST] ' + message['content'] + ' [/INST]' }}
{%- else %}{{- ' ' + message['content'] + eos_token }}{%- endif %}{%- endfor %}"""
GEMMA = """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}
{% for message in messages %}{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}
{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}
{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"""
SMOLLM = """{% for message in messages %}{% if message.role == 'assistant' %}{% generation %}
{{- '<|im_start|>assistant\n' + message.content + '<|im_end|>\n' }}{% endgeneration %}{% else %}
{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{% endif %}"""
CHATML_TALK = (
    "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi?<|im_end|>\n<|im_start|>assistant\nYes.<|im_end|>\n"
    "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"
)


def render(source: str, *messages: Message) -> str:
    return JinjaTemplate(source, "<s>", "</s>").render(messages)


@pytest.mark.parametrize("source", [QWEN, SMOLLM])
def test_chatml(source: str) -> None:
    assert render(source, SYSTEM, ASK, REPLY, AGAIN) == CHATML_TALK


def test_llama_3() -> None:
    text = render(LLAMA3, SYSTEM, ASK)
    head = "<s><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot|>"
    ask = "<|start_header_id|>user<|end_header_id|>\n\nHi?<|eot|>"
    assert text == head + ask + "<|start_header_id|>assistant<|end_header_id|>\n\n"


def test_mistral_gets_the_system_prompt_in_the_first_user_message() -> None:
    text = render(MISTRAL, SYSTEM, ASK, REPLY, AGAIN)
    assert text == "<s>[INST] Be brief.\n\nHi? [/INST] Yes.</s>[INST] Why? [/INST]"


def test_gemma_gets_the_system_prompt_in_the_first_user_message() -> None:
    text = render(GEMMA, SYSTEM, ASK)
    assert "<start_of_turn>user\nBe brief.\n\nHi?<end_of_turn>" in text
    assert text.endswith("<start_of_turn>model\n")
    assert "system" not in text


def test_roles_that_do_not_alternate_are_joined_where_the_template_insists() -> None:
    text = render(MISTRAL, SYSTEM, REPLY, ASK, AGAIN)
    assert text == "<s>[INST] Be brief.\n\nHi?\nWhy? [/INST]"


def test_a_template_that_drops_the_system_prompt_gets_it_from_the_user() -> None:
    source = "{% for m in messages if m.role != 'system' %}{{ m.role }}: {{ m.content }};{% endfor %}"
    assert render(source, SYSTEM, ASK) == "user: Be brief.\n\nHi?;"


def test_the_names_that_published_templates_use() -> None:
    source = "{{ strftime_now('%Y') | length }} {{ {'a': 'é'} | tojson }}{% for m in messages %}{% break %}{% endfor %}"
    assert render(source, ASK) == '4 {"a": "é"}'


@pytest.mark.parametrize(
    "source", ["{{ raise_exception('never') }}", "{{ messages.nothing.there }}", "{{ ''.__class__.__mro__ }}{{ 1/0 }}"]
)
def test_a_template_that_refuses_everything_is_an_error_to_read(source: str) -> None:
    with pytest.raises(PredtuiError, match="refuses"):
        render(source, ASK)


def test_a_broken_template_is_an_error_to_read() -> None:
    with pytest.raises(PredtuiError, match="broken"):
        render("{% for m in %}", ASK)


def test_the_sandbox_holds() -> None:
    with pytest.raises(PredtuiError):
        render("{{ ''.__class__.__mro__[1].__subclasses__() }}", ASK)
