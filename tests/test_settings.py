"""The table of keys: every choice is explained, typed and within its own bounds."""

from __future__ import annotations

from predtui import settings


def test_every_key_has_a_meaning() -> None:
    assert all(item.meaning for item in settings.options().values())


def test_every_default_is_of_its_own_kind_and_one_of_its_own_choices() -> None:
    for item in settings.options().values():
        assert type(item.default) is item.kind
        assert not item.choices or item.default in item.choices
        assert item.kind in (str, bool) or item.least <= item.default <= item.most


def test_no_two_settings_share_a_flag_or_a_variable() -> None:
    items = settings.options().values()
    assert len({item.variable for item in items}) == len(items)
    flags = [item.flag for item in items if item.flag]
    assert len(set(flags)) == len(flags)
