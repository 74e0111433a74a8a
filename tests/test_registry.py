"""Every entry of every registry can be made, explains itself in a line, and is found by the names that mean it."""

from __future__ import annotations

import importlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui import registry
from predtui.errors import PredtuiError
from predtui.registry import NEEDS, Entry, Registry

REGISTRIES = [value for value in vars(registry).values() if isinstance(value, Registry)]
ENTRIES = [pytest.param(kind, entry, id=f"{kind.kind}-{entry.name}") for kind in REGISTRIES for entry in kind.values()]


@pytest.mark.parametrize(("kind", "entry"), ENTRIES)
def test_an_entry_explains_itself_in_a_line(kind: Registry, entry: Entry) -> None:
    assert entry.help
    assert "\n" not in entry.help
    assert not entry.help.endswith(".")
    assert entry.needs <= NEEDS.keys()
    assert [line for line in kind.lines() if line.startswith(entry.name)] or entry.internal


@pytest.mark.parametrize(("kind", "entry"), ENTRIES)
def test_what_makes_it_can_be_imported(kind: Registry, entry: Entry) -> None:
    try:
        importlib.import_module(entry.factory.partition(":")[0])
    except ImportError as error:
        if (error.name or "predtui").startswith("predtui"):
            raise
        pytest.skip(f"{error.name} is not installed here")
    assert callable(kind.factory(entry.choice))


@pytest.mark.parametrize("kind", REGISTRIES, ids=lambda kind: kind.kind)
@given(text=st.text(max_size=8), number=st.integers(1, 10**6))
def test_a_name_means_one_entry_or_is_refused_with_the_nearest(kind: Registry, text: str, number: int) -> None:
    for name, entry in kind.items():
        if name.endswith("N"):
            assert kind.find(f"{name[:-1]}{number}") is entry
            assert entry.number(f"{name[:-1]}{number}") == number
            assert entry.number(f"{name[:-1]}0") is None
            assert entry.number(name) is None
        else:
            assert kind.find(name) is entry
        assert kind.find(entry.choice) is entry
    if any(entry.number(text) is not None for entry in kind.values()):
        assert kind.find(text).number(text) is not None
    else:
        with pytest.raises(PredtuiError) as caught:
            kind.find(text)
        assert repr(text) in caught.value.message
        assert any(entry.choice in caught.value.remedy for entry in kind.values())
        assert "N" not in caught.value.remedy.split()


def test_where_some_are_lossy_every_line_says_which() -> None:
    for kind in REGISTRIES:
        marked = ["loss" in line.partition(":")[0] for line in kind.lines()]
        assert all(marked) if not all(entry.lossless for entry in kind.values()) else not any(marked)
