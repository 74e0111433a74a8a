"""Templates that mark the end of a reply by text: what comes behind it is looked for as text, and ends it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.scripted import CharacterTokenizer, MarkedTemplate
from predtui.llm.stops import stops_of
from predtui.llm.templates import JinjaTemplate, PlainTemplate
from predtui.predgen.reply_text import ReplyText
from predtui.state.events import Message
from tests import thinkers, tiny_gguf
from tests.llm.families import FAMILIES
from tests.thinkers import MARKS, MarkTokenizer

TURNS = "{% for m in messages %}{% if m.role == 'user' %}ASK{% elif m.role == 'assistant' %}SAY{% endif %}{% endfor %}"
ALPACA = TURNS.replace("ASK", "### Instruction:\n{{ m.content }}\n\n### Response:\n").replace(
    "SAY", "{{ m.content }}\n\n"
)
LLAMA1 = TURNS.replace("ASK", "USER: {{ m.content }} ASSISTANT:").replace("SAY", " {{ m.content }}</s>")
VICUNA = LLAMA1.replace("</s>", " ")
PYGMALION = TURNS.replace("ASK", "{{ m.content }}\n<|model|>").replace("SAY", "{{ m.content }}\n<|user|>\n")
BARE = TURNS.replace("ASK", "user\n{{ m.content }}\nassistant\n").replace("SAY", "{{ m.content }}\n")
STOPS = {
    ALPACA: ("\n### Instruction:",),
    LLAMA1: ("</s>",),
    VICUNA: (" USER:",),
    PYGMALION: ("<|user|>",),
    BARE: ("\nuser\n",),
    TURNS.replace("ASK", "{{ m.content }}\n").replace("SAY", "{{ m.content }}\n"): (),
    "{{ raise_exception('no') }}": (),
    "{{ messages[0].content }}": (),
}


@pytest.mark.parametrize("source", STOPS)
def test_what_stands_behind_a_reply_ends_it(source: str) -> None:
    assert stops_of(JinjaTemplate(source), CharacterTokenizer()) == STOPS[source]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_a_template_that_ends_replies_by_a_token_needs_none(family: object) -> None:
    marks, source = getattr(family, "marks"), getattr(family, "template")  # noqa: B009 - of a dataclass of tests
    assert stops_of(JinjaTemplate(source, "<s>", marks[1]), MarkTokenizer(marks)) == ()


def test_other_templates() -> None:
    assert stops_of(PlainTemplate(), CharacterTokenizer()) == PlainTemplate.stops
    assert stops_of(MarkedTemplate(), CharacterTokenizer()) == ()
    marked = JinjaTemplate(thinkers.CHATML)
    assert stops_of(marked, MarkTokenizer(MARKS["think"])) == ()
    assert stops_of(marked, MarkTokenizer(MARKS["think"], defined=True)) == ()
    assert stops_of(marked, MarkTokenizer(())) == ("<|im_end|>", "<|im_start|>")


@pytest.fixture(scope="module", params=[ALPACA, VICUNA, PYGMALION], ids=["alpaca", "vicuna", "pygmalion"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A GGUF file whose vocabulary has no token for what its template writes."""
    path: Path = tiny_gguf.write(tmp_path_factory.mktemp("stops") / "tiny.gguf", template=request.param)
    return load(str(path), threads=1)


@given(st.text("aeio \n", max_size=12), st.text("aeio", max_size=12), st.integers(0, 40))
@settings(max_examples=30, deadline=None)
def test_a_reply_goes_to_where_the_user_would_speak_and_no_further(
    loaded: LoadedModel, answer: str, more: str, cut: int
) -> None:
    """However far it has come, nothing of what is behind its end is shown."""
    whole = answer + behind(loaded) + more
    tokens = loaded.tokenizer.encode(whole)
    text = ReplyText(loaded.tokenizer, loaded.stops)
    shown = text.text(tokens)
    assert text.over(tokens)
    assert shown.strip() == answer.strip()
    assert answer.startswith(text.text(tokens[:cut]).rstrip()) or not text.text(tokens[:cut]).strip()


def behind(loaded: LoadedModel) -> str:
    text = loaded.template.render([Message("user", "one"), Message("assistant", "two"), Message("user", "six")])
    return text.partition("two")[2].partition("six")[0]
