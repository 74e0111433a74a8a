"""Before any test module: predtui, whose import keeps the libraries that the tests import from phoning home; and a
cache folder of the run's own."""

import atexit
import os
import shutil
import tempfile

import predtui  # noqa: F401

if "PREDTUI_CACHE_DIR" not in os.environ:  # the workers of a run inherit it
    os.environ["PREDTUI_CACHE_DIR"] = tempfile.mkdtemp(prefix="predtui-tests-")
    atexit.register(shutil.rmtree, os.environ["PREDTUI_CACHE_DIR"], ignore_errors=True)
