"""Every numeric library of a process keeps to the threads that the process has been given."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from predtui.system.threads import VARIABLES, environment, limit


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_libraries_that_are_loaded_are_limited(threads: int) -> None:
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(limits=4):
        limit(threads)
        found = threadpool_info()
        assert found
        assert max(one["num_threads"] for one in found) <= threads


def test_no_share_leaves_the_environment_as_it_is() -> None:
    assert environment(0) == {}
    assert environment(3) == dict.fromkeys(VARIABLES, "3")
