"""Templates written here in the manner of the families that people run."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2.sandbox import ImmutableSandboxedEnvironment

from predtui.errors import PredtuiError
from predtui.llm import sandbox
from predtui.llm.sandbox import MeteredEnvironment
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


DOUBLED = "{% set n = namespace(x='abcdefgh') %}{% for i in range(60) %}{% set n.x = MORE %}{% endfor %}{{ n.x }}"
NESTED = "{% set n = namespace(x=['a']) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}"
COMPARED = (
    "{% set a = 'a' * 500000 %}{% set b = 'a' * 500000 %}{% set l = [a, b] %}"
    "{% for i in range(100) %}{% set x = HOW %}{% endfor %}"
)
LONG = "{% set m = 'a' * 100000 %}"
GREEDY = {
    "100 MB in a loop": "{% for i in range(100000) %}" + "x" * 1000 + "{% endfor %}",
    "loops that print nothing": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "loops over a list": "{% set l = range(9999)|list %}{% for a in l for b in l %}{% endfor %}".replace(
        " for b in l", " %}{% for b in l"
    )
    + "{% endfor %}",
    "a loop with a condition": "{% for i in range(9999) %}{% for j in range(99999) if false %}{% endfor %}{% endfor %}",
    "macros": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "a loop that calls itself": "{% for i in [1] recursive %}{{ loop([1, 1]) }}{% endfor %}",
    "times": "{{ 'a' * 10000000000 }}",
    "times, the other way round": "{{ 10000000000 * 'a' }}",
    "times a list": "{{ [0] * 10000000000 }}",
    "a power": "{{ 10 ** (10 ** 10) }}",
    "powers of powers": "{{ (9 ** 999) ** 999 }}",
    "a width": "{{ '%1000000000d' % 1 }}",
    "a computed width": "{{ '%*d' % (1000000000, 1) }}",
    "a precision": "{{ '%.1000000000f'|format(1) }}",
    "a width of format": "{{ '{:>1000000000}'.format(1) }}",
    "a computed width of format": "{{ '{:{}}'.format(1, '>1000000000') }}",
    "format_map": "{{ '{a:>1000000000}'.format_map({'a': 1}) }}",
    "a date": "{{ strftime_now('%1000000000Y') }}",
    "ljust": "{{ 'a'.ljust(10000000000) }}",
    "zfill": "{{ 'a'.zfill(width) }}".replace("width", "10000000000"),
    "center": "{{ 'a'|center(10000000000) }}",
    "indent": "{{ ('a\n' * 100000)|indent(1000000) }}",
    "expandtabs": "{{ ('\t' * 100000).expandtabs(1000000) }}",
    "tojson": "{{ [[1]]|tojson(indent=1000000000) }}",
    "replace": LONG + "{{ m|replace('a', m) }}",
    "replace, the method": LONG + "{{ m.replace('a', m) }}",
    "join": LONG + "{{ range(100000)|join(m) }}",
    "join, the method": LONG + "{{ m.join(m) }}",
    "join of what is computed": LONG + "{{ m.join(range(100000)|map('string')) }}",
    "join of copies": LONG + "{{ range(100000)|map('replace', '', m)|join }}",
    "join of defaults": LONG + "{{ range(100000)|map(attribute='x', default=m)|join }}",
    "a list of defaults": LONG + "{{ range(100000)|map(attribute='x', default=m)|list|tojson }}",
    "translate": LONG + "{{ m.translate({97: m}) }}",
    "bytes": "{{ 'a'.encode().ljust(10000000000) }}",
    "bytes of a number": "{{ (1).to_bytes(10000000000, 'big') }}",
    "a sum of lists": "{{ ([[0] * 1000] * 100000)|sum(start=[]) }}",
    "batches": "{{ 'a'|batch(10000000000, 'b')|list }}",
    "slices": "{{ 'a'|slice(10000000000)|list }}",
    "copies of a slice": "{% set l = [0] * 400000 %}{% for i in range(99999) %}{% set k = l[1:] %}{% endfor %}",
    "copies by a filter": "{% set l = [0] * 400000 %}{% for i in range(99999) %}{% set k = l|list %}{% endfor %}",
    "doubled by +": DOUBLED.replace("MORE", "n.x + n.x"),
    "doubled by ~": DOUBLED.replace("MORE", "n.x ~ n.x"),
    "doubled by join": DOUBLED.replace("MORE", "[n.x, n.x]|join"),
    "doubled by a format": DOUBLED.replace("MORE", "'%s%s' % (n.x, n.x)"),
    "doubled by a filter": DOUBLED.replace("MORE", "'%s%s'|format(n.x, n.x)"),
    "doubled by a block": "{% set x = 'a' %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 60 + "{{ x }}",
    "doubled in a list": NESTED + "{{ n.x }}",
    "a doubled list as JSON": NESTED + "{{ n.x|tojson }}",
    "a doubled list as text": NESTED + "{{ n.x|string }}",
    "a doubled list in capitals": NESTED + "{{ n.x|upper }}",
    "a doubled list after a text": NESTED + "{{ 'a' ~ n.x }}",
    "a doubled list in a format": NESTED + "{{ '%s' % n.x }}",
    "a doubled name space": NESTED + "{{ n }}",
    "long texts compared": COMPARED.replace("HOW", "a == b"),
    "a long text looked for": COMPARED.replace("HOW", "b in l"),
    "long texts tested": COMPARED.replace("HOW", "a is eq(b)"),
    "a long text selected": COMPARED.replace("HOW", "l|select('==', b)|list"),
    "a long text counted": COMPARED.replace("HOW", "l.count(b)"),
    "long texts sorted": COMPARED.replace("HOW", "l|sort"),
    "the largest of long texts": COMPARED.replace("HOW", "l|max"),
    "long texts once each": COMPARED.replace("HOW", "l|unique(true)|first"),
    "a constant": "{{ ('a' * 100000)|center(100000000)|upper }}",
}


@pytest.mark.parametrize("source", GREEDY.values(), ids=GREEDY.keys())
def test_a_template_that_would_take_for_ever_or_fill_the_memory_is_one_line(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bound, value in (("SECONDS", 0.1), ("LARGEST", 1 << 20), ("TOTAL", 1 << 24), ("_GLANCE", 1 << 10)):
        monkeypatch.setattr(sandbox, bound, value)
    tracemalloc.start()
    began = time.thread_time()
    try:
        with pytest.raises(PredtuiError) as refused:
            JinjaTemplate(source).render([ASK])
        took, (_, peak) = time.thread_time() - began, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(str(refused.value).splitlines()) == 1
    assert len(str(refused.value)) < 300
    assert peak < 100e6
    assert took < 20


@pytest.mark.parametrize(
    "source",
    ["{{ " + "(" * 50_000, "{% if x %}" * 5_000, "{{ a" + ".b" * 20_000 + " }}", "x" * 300_000],
    ids=["brackets", "blocks", "attributes", "characters"],
)
def test_a_template_that_nests_or_is_too_long_is_broken(source: str) -> None:
    with pytest.raises(PredtuiError, match="template is broken") as refused:
        JinjaTemplate(source)
    assert len(str(refused.value).splitlines()) == 1


PLAIN = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
PARTS = st.sampled_from(
    [
        "m[0].content",
        "'<b>'",
        "1",
        "2.5",
        "none",
        "nothing",
        "[1, 'b']",
        "{'a': 1}",
        "('x', 2)",
        "m[0]",
        "'%s-%d'",
        "m|length",
    ]
)
FORMS = st.sampled_from(
    [
        "({0} + {1} + {2})", "({0} ~ {1} ~ {2})", "({0} * {1})", "({0} % {1})", "({0} ** 2)", "[{0}, {1}]",
        "({0}, {1})", "({0}|trim)", "({0}|upper)", "({0}|replace({1}, {2}))", "([{0}, {1}]|join({2}))", "({0}|list)",
        "({0}|tojson)", "({0}|string|length)", "({0}|default({1}))", "({0}|first)", "({0}|indent(2))", "({0}).strip()",
        "({0}).split({1})", "({0}|e)", "({0}|safe)", "({0})[1:]", "({0})[0]", "({0}|center(9))", "({0}|int)",
        "({0}|map('upper')|list)", "({0} == {1})", "({0}|sort|list)", "({0}|items|list)", "({0} if {1} else {2})",
        "'{{}}-{{}}'.format({0}, {1})", "({0}|sum)",
    ]
)  # fmt: skip
EXPRESSIONS = st.recursive(
    PARTS, lambda inner: st.builds(lambda form, *parts: form.format(*parts), FORMS, inner, inner, inner), max_leaves=6
)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@given(EXPRESSIONS, EXPRESSIONS)
@settings(max_examples=40, deadline=None)
def test_what_is_metered_gives_what_jinja_gives(one: str, other: str) -> None:
    source = (
        "{% macro f(a) %}<{{ a }}>{% endmacro %}{% for x in [ONE, OTHER] %}{{ loop.index }}{{ loop.last }}{{ x }}"
        "{{ f(x) }}{% endfor %}{% set y %}{{ OTHER }}{% endset %}{{ y }}"
    )
    source = source.replace("ONE", one).replace("OTHER", other)
    messages = [{"role": "user", "content": " it's <so> "}, {"role": "user", "content": "x"}]
    metered = MeteredEnvironment(trim_blocks=True, lstrip_blocks=True)
    metered.seal()
    outcomes: list[str] = []
    for render in (
        lambda: PLAIN.from_string(source).render(m=messages),
        lambda: metered.render(metered.from_string(source), m=messages),
    ):
        try:
            outcomes.append(render())
        except Exception as error:
            outcomes.append(type(error).__name__)
    assert outcomes[0] == outcomes[1]
