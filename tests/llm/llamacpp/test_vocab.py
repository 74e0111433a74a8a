from __future__ import annotations

from pathlib import Path

from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.state.events import Message
from tests.tiny_gguf import CHATML, write

TALK = [Message("system", "Be kind."), Message("user", "the thing"), Message("assistant", "in"), Message("user", "é?")]


def test_an_incomplete_character_is_held_back(tiny: LoadedModel) -> None:
    ids = tiny.tokenizer.encode("a€")
    assert [tiny.tokenizer.decode(ids[:n]) for n in range(5)] == ["", "a", "a", "a", "a€"]


def test_bos_stands_once_whoever_writes_it(tmp_path: Path) -> None:
    for name, template in (("writes", "{{ bos_token }}" + CHATML), ("leaves", CHATML)):
        loaded = load(str(write(tmp_path / f"{name}.gguf", template=template, add_bos=True)), threads=1)
        bos = loaded.tokenizer.encode("<|end|>", special=True)
        ids = loaded.prompt_tokens(TALK)
        assert (ids[:1], ids.count(bos[0])) == (bos, 1)
        assert loaded.tokenizer.encode("hi")[0] != bos[0]
        loaded.model.close()


def test_without_a_template_the_plain_one(tmp_path: Path) -> None:
    loaded = load(str(write(tmp_path / "plain.gguf", template=None)), threads=1)
    assert loaded.template.render(TALK) == "Be kind.\nUser: the thing\nAssistant: in\nUser: é?\nAssistant:"
    loaded.model.close()
