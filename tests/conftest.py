"""Before any test module: predtui, whose import keeps the libraries that the tests import from phoning home; folders of
the run's own for caches and conversations; and the models that ship, whatever else is installed. Tests of the real ones
are marked so."""

import atexit
import compileall
import gc
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

import predtui
from predtui.models.published import missing

os.environ["PREDTUI_EMBEDDED"] = "1"
os.environ["PREDTUI_UI_TOUR"] = "off"
for _folder in ("PREDTUI_CACHE_DIR", "PREDTUI_DATA_DIR"):
    if _folder not in os.environ:  # the workers of a run inherit it
        os.environ[_folder] = tempfile.mkdtemp(prefix="predtui-tests-")
        atexit.register(shutil.rmtree, os.environ[_folder], ignore_errors=True)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script: what tests start inherits it
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("any machine", deadline=None, max_examples=50)  # busy or slow, it says nothing of the law
settings.load_profile("any machine")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Tests start hundreds of processes, each of which would compile what it imports where the environment says that
    no bytecode is written: a fifth of what a turn from the command line takes."""
    if not hasattr(session.config, "workerinput"):
        compileall.compile_dir(Path(predtui.__file__).parent, quiet=2)


def pytest_sessionfinish() -> None:
    """pytest looks for garbage five times as it ends. A worker with all that the tests have imported took more than the
    five seconds for it after which execnet interrupts it."""
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if absent := missing():
        why = f"{', '.join(model.name for model in absent)} not installed: make real"
        for item in items:
            if item.get_closest_marker("real"):
                item.add_marker(pytest.mark.skip(reason=why))
