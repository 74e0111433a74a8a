"""A draft in words: all of its tokens, each once, in runs of one fate and one source."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.base import Verified
from predtui.decoding.draft import Draft
from predtui.predgen.drafted import branches
from predtui.state.events import Branch
from tests.decoding.drafters.test_fused import sequences, trees


def spelled(tokens: Sequence[int]) -> str:
    """As tokenizers do that drop a space at the beginning."""
    return "".join(f" {token}" for token in tokens).removeprefix(" ")


def accepted(draft: Draft, choices: Sequence[int]) -> tuple[int, ...]:
    """Some path from the root."""
    path: list[int] = []
    for choice in choices:
        if not (below := draft.children(path[-1] if path else -1)):
            break
        path.append(below[choice % len(below)])
    return tuple(path)


@given(sequences | trees(), st.lists(st.integers(0, 3), max_size=6), st.lists(st.sampled_from("ab"), min_size=8))
def test_every_token_is_in_one_run_with_its_fate_and_its_source(
    draft: Draft, choices: list[int], of: list[str]
) -> None:
    draft = Draft(draft.tokens, draft.parents, origins=tuple(of[: len(draft.tokens)]))
    path = accepted(draft, choices)
    runs, chosen = branches(Verified(9, draft, path, 7), spelled)
    assert chosen == " 7"
    assert sum(run.tokens for run in runs) == len(draft.tokens)
    assert all(run.parent < number for number, run in enumerate(runs))
    assert all(len(run.text.split()) == run.tokens and run.text.startswith(" ") for run in runs)
    kept = [run for run in runs if run.accepted]
    assert "".join(run.text for run in kept) == "".join(f" {draft.tokens[node]}" for node in path)
    told = sorted((words, run.source) for run in runs for words in run.text.split())
    assert told == sorted((str(token), origin) for token, origin in zip(draft.tokens, of, strict=False))


def test_a_plain_sequence_is_what_was_kept_and_what_fell() -> None:
    runs, chosen = branches(Verified(9, Draft((1, 2, 3), source="suffix"), (0, 1), 5), spelled)
    assert runs == (Branch(" 1 2", -1, "suffix", True, 2), Branch(" 3", 0, "suffix", False, 1))
    assert chosen == " 5"
    assert branches(Verified(9, Draft((1,)), (0,), None), spelled)[1] == ""
