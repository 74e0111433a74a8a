"""The real models are offered once ever, and only to somebody who would use them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from predtui.models import offer
from predtui.models.offer import Offer
from predtui.models.published import SMOLLM2, TINY_EN
from predtui.settings import Settings


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The state folder."""
    monkeypatch.setattr(offer, "missing", lambda: (SMOLLM2, TINY_EN))
    monkeypatch.setattr(offer, "state_folder", lambda: tmp_path / "state")
    return tmp_path / "state"


def named(llm: str = "auto", asr: str = "auto") -> Settings:
    settings = Settings()
    return replace(settings, llm=replace(settings.llm, model=llm), asr=replace(settings.asr, model=asr))


def test_it_can_be_claimed_once() -> None:
    assert Offer(named()).claim()
    assert not Offer(named()).claim()


def test_stages_whose_model_is_named_are_left_alone() -> None:
    assert Offer(named(llm="pocket")).stages == ("asr",)
    assert Offer(named(asr="pocket")).stages == ("llm",)
    assert not Offer(named("pocket", "pocket")).claim()


def test_nothing_is_offered_where_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Offer(named()).megabytes == 164
    monkeypatch.setattr(offer, "missing", tuple)
    assert Offer(named()).megabytes == 0
    assert not Offer(named()).claim()


def test_nothing_is_offered_where_it_cannot_be_remembered(nothing_installed: Path) -> None:
    nothing_installed.write_text("a file where the folder should be")
    assert not Offer(named()).claim()
