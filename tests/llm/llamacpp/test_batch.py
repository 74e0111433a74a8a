"""What stands in a batch, padded or not: each token at its place, and rows for those that are asked for alone."""

from __future__ import annotations

import llama_cpp
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.llamacpp.batch import CHUNK, Batch
from predtui.llm.llamacpp.exactness import PAIRS, UNPADDED, Padding

SPARE = 9
PADDINGS = [UNPADDED, PAIRS, Padding(8, 8)]


def contents(struct: llama_cpp.llama_batch) -> list[tuple[int, int, int, int]]:
    """Token, position, sequence and whether its row is wanted."""
    assert all(struct.n_seq_id[i] == 1 for i in range(struct.n_tokens))
    fields = ((struct.token[i], struct.pos[i], struct.seq_id[i][0], struct.logits[i]) for i in range(struct.n_tokens))
    return list(fields)


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 99), st.data()), min_size=1, max_size=4))
def test_a_batch_that_is_used_again_holds_what_it_was_filled_with(fills: list[tuple[int, int, st.DataObject]]) -> None:
    batch = Batch(CHUNK, SPARE)
    for count, start, data in fills:
        rows = data.draw(st.integers(0, count))
        batch.padding = data.draw(st.sampled_from(PADDINGS))
        batch.fill(range(100, 100 + count), start, rows)
        entries = contents(batch.struct)
        ours, padded = entries[:count], entries[count:]
        assert [entry[:3] for entry in ours] == [(100 + i, start + i, 0) for i in range(count)]
        assert len(padded) == batch.padded == batch.padding.of(count) - count
        assert all((token, sequence) == (0, SPARE) for token, _, sequence, _ in padded)
        wanted = [entry[3] for entry in ours]
        assert wanted[count - rows :] == [1] * rows
        if batch.padding == UNPADDED or not rows:
            assert sum(entry[3] for entry in entries) == rows
