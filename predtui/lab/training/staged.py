"""A trained model's files, which take their place together: whoever finds some of them finds all. Must not know what is
in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from predtui.errors import PredtuiError
from predtui.files import unwritable


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A folder for the files that are to stand in ``folder``, where they go when all are written, and files of a model
    that was there before leave. Raises PredtuiError where they cannot be written."""
    fresh = folder / ".partial"
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        yield fresh
        files = [*fresh.iterdir()]
        for path in files:
            os.replace(path, folder / path.name)
        for old in {*folder.glob("model*")} - {folder / path.name for path in files}:
            old.unlink()
    except PredtuiError:
        raise
    except (OSError, SafetensorError) as error:
        raise unwritable(folder, error) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
