"""Signals that wait until what has begun is done."""

from __future__ import annotations

import signal
import threading

import pytest

from predtui.system.exits import terminate_as_interrupt, undivided


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_for_the_end_and_no_longer(number: signal.Signals) -> None:
    done, before = [], signal.getsignal(signal.SIGINT)

    def work() -> None:
        with terminate_as_interrupt(), undivided():
            signal.raise_signal(number)
            done.append("all of it")
        done.append("more")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_ends_it_as_well_and_a_thread_has_no_signals() -> None:
    def work() -> None:
        with undivided():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("the work")

    with pytest.raises(ValueError, match="the work"):
        work()
    done: list[bool] = []

    def aside() -> None:
        with undivided():
            done.append(True)

    thread = threading.Thread(target=aside)
    thread.start()
    thread.join()
    assert done
