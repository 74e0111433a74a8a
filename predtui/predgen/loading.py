"""A model that is loaded in a thread of its own, so that how far it is gets out meanwhile, and that it is no longer
wanted gets in. Must not know of models or engines.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.memory import told
from predtui.state.events import Event, StageStatus

_LOOK_S = 0.05
_SHARE = 0.85
"""Of the stage's progress, that of the weights."""


class Loading:
    """What an engine tells of a loading, as a ``Told``, and whether it is still wanted."""

    def __init__(self) -> None:
        self.done = self.total = 0
        self.wanted = True

    def __call__(self, done: int, total: int) -> bool:
        self.done, self.total = max(done, self.done), total
        return self.wanted


def loaded_by(
    load: Callable[[], LoadedModel], loading: Loading | None, name: str, closing: Callable[[], bool]
) -> Generator[Event, None, LoadedModel]:
    """What ``load`` brings; while it is at work, how far it is by what ``loading`` hears. Without that, ``load`` is
    simply called. Raises what it raises, and PredtuiError once ``closing`` says yes."""
    if loading is None:
        return load()
    loading.done, loading.wanted = 0, True
    with ThreadPoolExecutor(1, "loading") as thread:
        coming = thread.submit(load)
        try:
            yield from _watched(coming, loading, name, closing)
            return coming.result()
        except BaseException:
            loading.wanted = False
            if coming.exception() is None:
                coming.result().model.close()
            raise


def _watched(
    coming: Future[LoadedModel], loading: Loading, name: str, closing: Callable[[], bool]
) -> Generator[Event, None, None]:
    shown = 0
    while not wait([coming], _LOOK_S).done:
        if closing():
            raise PredtuiError(f"The loading of {name} was given up.")
        done, total = loading.done, loading.total
        if total and 100 * done // total > shown:
            shown = 100 * done // total
            line = f"loading {name}: {told(done)} of {told(total)}"
            yield StageStatus(stage="llm", message=line, progress=_SHARE * done / total)
