"""The doctor says of the ideas that are chosen what the registry says, and tries them where that is asked for."""

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


@pytest.mark.parametrize(
    ("chosen", "subject", "said"),
    [
        ({"decoder": "speculative", "drafter": "ppd"}, "drafter", "needs an engine that evaluates soft tokens"),
        (
            {"decoder": "speculative", "drafter": "model", "draft": "absent.gguf"},
            "drafter",
            "no model file absent.gguf",
        ),
        ({"decoder": "speculative", "drafter": "rest", "datastore": "absent"}, "drafter", "no datastore"),
        ({"decoder": "lookahead", "engine": "numpy"}, "decoder", "needs an engine that evaluates token trees"),
        ({"decoder": "judge", "drafter": "suffix", "heads": "absent"}, "drafter", "no heads"),
    ],
)
def test_what_does_not_work_together_is_told_where_it_is_tried(chosen: dict[str, str], subject: str, said: str) -> None:
    settings = Settings(llm=LlmSettings(model="pocket", **chosen))
    untried = list(ideas(settings))
    assert {finding.state for finding in untried} == {"found"}
    assert "predtui doctor --decoder" in untried[-1].remedy
    (wrong,) = (finding for finding in ideas(settings, trying=True) if finding.state != "found")
    assert (wrong.subject, wrong.needed) == (subject, True)
    assert said in wrong.detail
    assert wrong.remedy


def test_what_works_together_needs_nothing() -> None:
    settings = Settings(llm=LlmSettings(model="pocket", decoder="speculative", drafter="suffix", verifier="top3"))
    findings = list(ideas(settings, trying=True))
    assert [finding.state for finding in findings] == ["found"] * 3
    assert not any("needs" in finding.detail or finding.remedy for finding in findings)


def test_of_a_model_that_cannot_be_opened_another_line_tells() -> None:
    settings = Settings(llm=LlmSettings(model="absent.gguf", decoder="lookahead"))
    assert [finding.state for finding in ideas(settings, trying=True)] == ["found"] * 2
