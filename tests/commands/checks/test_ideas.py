"""The doctor says of the ideas that are chosen what the registry says."""

from __future__ import annotations

import pytest

from predtui.commands.checks.ideas import ideas
from predtui.registry import DECODERS, DRAFTERS, NEEDS, VERIFIERS
from predtui.settings import LlmSettings, Settings


def details(**llm: str) -> dict[str, str]:
    return {finding.subject: finding.detail for finding in ideas(Settings(llm=LlmSettings(**llm)))}


@pytest.mark.parametrize("name", VERIFIERS)
def test_a_verifier_is_explained_and_marked(name: str) -> None:
    entry = VERIFIERS[name]
    said = details(verifier=entry.choice)["verifier"]
    assert said.startswith(f"{entry.choice}, {'lossless' if entry.lossless else 'not lossless'}: {entry.help}")


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_is_explained_and_its_drafter_with_it_where_it_takes_one(name: str) -> None:
    said = details(decoder=name, drafter="suffix")
    assert DECODERS[name].help in said["decoder"]
    assert all(NEEDS[need] in said["decoder"] for need in DECODERS[name].needs)
    assert ("drafter" in said) == ("drafter" in DECODERS[name].needs)
    if "drafter" in said:
        assert DRAFTERS["suffix"].help in said["drafter"]


def test_without_a_choice_there_is_nothing_to_say_of_a_decoder() -> None:
    assert details().keys() == {"verifier"}
