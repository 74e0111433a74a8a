"""The draft that was verified last, in words, for the screen: runs of tokens that share their fate and their source.

Must not know how drafts are made or verified, or of engines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from predtui.decoding.base import Verified
from predtui.state.events import Branch

Decode = Callable[[Sequence[int]], str]


def branches(verified: Verified, decode: Decode) -> tuple[tuple[Branch, ...], str]:
    """The runs of the draft, parents before their children, and the model's own token behind those it accepted."""
    draft, accepted = verified.draft, {*verified.path}
    runs: list[list[int]] = []
    parents: list[int] = []
    run_of = {-1: -1}
    for node in range(len(draft.tokens)):
        parent = draft.parent(node)
        above = run_of[parent]
        alike = parent >= 0 and (parent in accepted, draft.origin(parent)) == (node in accepted, draft.origin(node))
        if alike and runs[above][-1] == parent and len(draft.children(parent)) == 1:
            runs[above].append(node)
            run_of[node] = above
        else:
            run_of[node] = len(runs)
            runs.append([node])
            parents.append(above)

    def told(node: int, tokens: Sequence[int]) -> str:
        """``tokens`` behind ``node``, whose text keeps the space before them, which some tokenizers drop."""
        before = draft.tokens[node] if node >= 0 else verified.before
        head, whole = decode([before]), decode([before, *tokens])
        return whole[len(head) :] if whole.startswith(head) else decode(tokens)

    found = tuple(
        Branch(
            told(draft.parent(run[0]), [draft.tokens[node] for node in run]),
            *(above, draft.origin(run[0]), run[0] in accepted, len(run)),
        )
        for run, above in zip(runs, parents, strict=True)
    )
    last = verified.path[-1] if verified.path else -1
    return found, "" if verified.next_token is None else told(last, [verified.next_token])
