"""When each token was said: dynamic time warping of the cross-attention (Whisper's word timestamps; WhisperFlow,
section 3.2). Knows no model.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predtui.asr.whisperflow.ct2_weights import Array

SECONDS_A_POSITION = 0.02
_MEDIAN = 7


def token_times(attention: Array, positions: int) -> npt.NDArray[np.float64]:
    """The seconds at which each of n tokens begins, and the last one ends: [n + 1], never falling.

    ``attention`` [heads, n + 1, positions]: of the tokens' predecessors, which predict them, and of the last token;
    sound lies in the first ``positions``.
    """
    weights = attention[:, :, :positions]
    spread = weights.std(axis=1, keepdims=True)
    weights = (weights - weights.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    path = warp(-_smooth(weights).mean(axis=0))
    times = np.array([path[path[:, 0] == token, 1].min() for token in range(attention.shape[1])], dtype=np.float64)
    return times * SECONDS_A_POSITION


def warp(cost: Array) -> npt.NDArray[np.int64]:
    """The cheapest way [(row, column), ..] through ``cost`` [rows, columns] from corner to corner, by steps right, down
    or both."""
    rows, columns = cost.shape
    total = np.full((rows + 1, columns + 1), np.inf)
    total[0, 0] = 0.0
    for row in range(1, rows + 1):
        along = np.cumsum(cost[row - 1], dtype=np.float64)
        entered = np.minimum(total[row - 1, :-1], total[row - 1, 1:]) - np.concatenate([[0.0], along[:-1]])
        total[row, 1:] = np.minimum.accumulate(entered) + along
    return _traced(total.tolist())


def _traced(total: list[list[float]]) -> npt.NDArray[np.int64]:
    """The way back through the ``total`` costs [rows + 1, columns + 1] of the cheapest ways to every cell."""
    path, row, column = [], len(total) - 1, len(total[0]) - 1
    while row and column:
        path.append((row - 1, column - 1))
        above, here = total[row - 1], total[row]
        both, down, right = above[column - 1], above[column], here[column - 1]
        if both <= down and both <= right:
            row, column = row - 1, column - 1
        elif down <= right:
            row -= 1
        else:
            column -= 1
    return np.array(path[::-1], dtype=np.int64)


def _smooth(weights: Array) -> Array:
    """The running median along positions."""
    half = _MEDIAN // 2
    if weights.shape[2] <= half:
        return weights
    edged = np.pad(weights, ((0, 0), (0, 0), (half, half)), mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(edged, _MEDIAN, axis=2)
    result: Array = np.median(windows, axis=-1)
    return result
