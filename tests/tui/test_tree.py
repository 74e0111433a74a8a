"""The verified draft as drawn: what was accepted in one line, every other branch below it, all within the width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.state.events import Branch, Decoding
from predtui.tui.tree import tree
from predtui.tui.widgets.candidate import CandidatePane
from tests.tui.conftest import MakeApp
from tests.tui.scenes import fold, machine, speculating
from tests.tui.test_snapshots import SCENES, Compare, frozen

DRAFT = Decoding(
    turn=2,
    revision=5,
    decoder="speculative + fused",
    proposed=9,
    accepted=4,
    acceptance_rate=0.63,
    tokens_per_forward=3.9,
    tree=(
        Branch(" The capital", -1, "suffix", True, 2),
        Branch(" of France", 0, "suffix", True, 2),
        Branch(" of Spain is", 0, "model", False, 3),
        Branch(" is Lyon", 1, "suffix", False, 2),
    ),
    chosen=" was",
)
SCENES["tree"] = [*machine(), *speculating(), DRAFT]


def test_what_was_accepted_is_first_and_each_branch_below_where_it_left() -> None:
    lines = [line.plain for line in tree(DRAFT, 70)]
    assert lines == [
        "suffix: ✓ The capital of France → was",
        "                                └ ✗ is Lyon",
        "                      └ ✗ of Spain is (model)",
    ]
    nothing = Decoding(tree=(Branch(" A", -1, "model"),), chosen=" The")
    assert [line.plain for line in tree(nothing, 40)] == ["model: → The", "       └ ✗ A"]
    assert tree(Decoding(), 70) == []


@st.composite
def drafts(draw: st.DrawFn) -> Decoding:
    """Any branches, those that were accepted along one path."""
    branches: list[Branch] = []
    last = -1
    for number in range(draw(st.integers(0, 9))):
        parent, kept = draw(st.integers(-1, number - 1)), draw(st.booleans())
        if kept:
            parent, last = last, number
        branches.append(Branch(draw(st.text(max_size=20)), parent, draw(st.sampled_from("ab")), kept))
    return Decoding(tree=tuple(branches), chosen=draw(st.text(max_size=5)))


@given(drafts(), st.integers(1, 60))
def test_every_branch_has_its_place_within_the_width(decoding: Decoding, width: int) -> None:
    lines = tree(decoding, width)
    fell = sum(not branch.accepted for branch in decoding.tree)
    assert len(lines) == (1 + fell if decoding.tree else 0)
    assert all(line.cell_length <= width for line in lines)


@pytest.mark.parametrize("height", range(1, 14))
def test_the_guess_comes_first_and_the_tree_has_what_it_leaves(height: int) -> None:
    with_tree = fold(SCENES["tree"])
    pane = CandidatePane(with_tree)
    lines = [line.plain for line in pane.draw(pane.read(with_tree), 70, height)]
    assert len(lines) == height
    assert ("suffix: ✓ The capital of France → was" in lines) == (height >= 3)
    assert any("└ ✗ of Spain is (model)" in line for line in lines) == (height >= 7)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("keys", [(), ("tab", "tab", "tab", "z")], ids=["panes", "zoomed"])
def test_the_tree(snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], keys: tuple[str, ...]) -> None:
    assert frozen(snap_compare, make_app, size, "tree", keys)
