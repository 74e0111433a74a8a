"""The packages that only training and benchmarks need: what is said where one is missing. Imports none of them."""

from __future__ import annotations

from importlib.util import find_spec

from predtui.errors import PredtuiError


def needed(command: str, *packages: str) -> None:
    """Raises PredtuiError for the first of ``packages`` that ``command`` would not find."""
    for package in packages:
        if find_spec(package) is None:
            raise missing(command, package)


def missing(command: str, package: str) -> PredtuiError:
    return PredtuiError(
        f"predtui {command} needs the package {package.partition('.')[0]}.", "Install it: pip install 'predtui[lab]'"
    )
