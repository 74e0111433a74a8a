"""Retrieval pruned by a draft model, in one tree with what that drafts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.draft import Draft
from predtui.decoding.drafters.copyspec import CopySpec
from predtui.decoding.drafters.dyspec import UNLIKELY, DySpec
from predtui.decoding.drafters.grow import Options, Path, grow
from predtui.decoding.drafters.rasd import Rasd, fused, pruned
from predtui.decoding.sampler import Greedy
from tests.decoding.drafters.test_dyspec import Small, contexts
from tests.decoding.drafters.test_fused import paths, sequences, trees

drafts = sequences | trees()
BUDGETS = st.integers(1, 16)


@given(drafts, drafts, BUDGETS)
def test_the_fused_tree_has_both_parts_best_paths(drafted: Draft, retrieved: Draft, budget: int) -> None:
    drafted = drafted.first((budget + 1) // 2)
    tree = fused(drafted, retrieved, budget)
    assert len(tree.tokens) <= budget
    assert paths(tree) <= paths(drafted) | paths(retrieved)
    for part in (drafted, retrieved.first(budget - len(drafted.tokens))):
        assert paths(part.best_path()) <= paths(tree)


@given(drafts, st.dictionaries(st.lists(st.integers(0, 2), max_size=3).map(tuple), st.sets(st.integers(0, 2))))
def test_pruned_is_what_the_draft_model_finds_unlikely_with_all_below(
    retrieved: Draft, likely: dict[Path, set[int]]
) -> None:
    looked: dict[Path, Options] = {path: [(token, 0.3) for token in tokens] for path, tokens in likely.items()}

    def stays(path: Path) -> bool:
        return all(not likely.get(path[:end]) or path[end] in likely[path[:end]] for end in range(len(path)))

    assert paths(pruned(retrieved, looked)) == {path for path in paths(retrieved) if stays(path)}


@given(contexts, st.floats(0, 3), BUDGETS)
@settings(deadline=None)
def test_a_draft_is_the_models_tree_and_what_is_left_of_the_retrieved(
    context: list[int], sharpness: float, budget: int
) -> None:
    model = DySpec(Small(sharpness), Greedy(), (-1).__eq__)
    tree = Rasd(CopySpec(2), model).propose(context, budget)
    own = grow(lambda path: model.after(context, path, 0), (budget + 1) // 2, UNLIKELY)
    copied = CopySpec(2).propose(context, budget)
    assert len(tree.tokens) <= budget
    assert paths(own) <= paths(tree) <= paths(own) | paths(copied)
