"""What predtui proposes can be named, pulled and told."""

from __future__ import annotations

import pytest

from predtui.models.curated import KINDS, Proposal, proposals, source
from predtui.models.names import parse
from predtui.models.shipped import MODELS
from predtui.registry import SYNTHESISERS


@pytest.mark.parametrize("proposal", proposals().values(), ids=proposals().keys())
def test_every_proposal_is_whole(proposal: Proposal) -> None:
    assert proposal.kind in KINDS
    assert parse(proposal.source).kind == "hub"
    assert 0 < proposal.megabytes < proposal.memory
    assert all((proposal.licence, proposal.languages, proposal.good))
    assert proposal.option.endswith(proposal.name)
    assert (proposal.engine in SYNTHESISERS) == (proposal.kind == "tts")
    assert proposal.name not in MODELS
    assert parse(proposal.name).kind == "path"
    assert source(proposal.name) == proposal.source


def test_they_are_in_order_and_any_other_name_is_itself() -> None:
    kinds = [proposal.kind for proposal in proposals().values()]
    assert kinds == sorted(kinds, key=list(KINDS).index)
    assert set(kinds) == set(KINDS)
    assert source("a/b") == "a/b"
