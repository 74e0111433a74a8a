"""What holds on systems that no test runs on: modules that only POSIX has are asked for behind a look at the system."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import predtui

POSIX = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog"}
HOUSE = Path(predtui.__file__).parent


def unguarded(node: ast.AST) -> Iterator[str]:
    """Names of POSIX modules imported outside of any ``if`` on ``sys.platform``, and not after one that returns."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "sys.platform" in ast.unparse(child.test):
            if any(isinstance(last, ast.Return | ast.Raise) for last in child.body):
                return
            continue
        if isinstance(child, ast.Import):
            yield from (name.name for name in child.names if name.name in POSIX)
        if isinstance(child, ast.ImportFrom) and child.module in POSIX:
            yield str(child.module)
        yield from unguarded(child)


def test_an_import_without_a_look_at_the_system_is_found() -> None:
    assert list(unguarded(ast.parse("import fcntl"))) == ["fcntl"]
    assert list(unguarded(ast.parse("def f():\n    from pwd import getpwuid"))) == ["pwd"]
    assert list(unguarded(ast.parse("import sys\nif sys.platform != 'win32':\n    import pwd"))) == []


def test_outside_the_lab_no_module_needs_what_only_posix_has() -> None:
    files = [path for path in HOUSE.rglob("*.py") if "lab" not in path.relative_to(HOUSE).parts]
    assert len(files) > 200
    assert {path.name: found for path in files if (found := list(unguarded(ast.parse(path.read_text()))))} == {}
