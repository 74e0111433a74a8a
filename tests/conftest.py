"""Before any test module: predtui, whose import keeps the libraries that the tests import from phoning home."""

import predtui  # noqa: F401
