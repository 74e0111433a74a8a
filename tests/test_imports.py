"""Imports run one way between modules, those for types alone included."""

from __future__ import annotations

import graphlib

import grimp


def test_no_two_modules_import_each_other() -> None:
    graph = grimp.build_graph("predtui", exclude_type_checking_imports=False, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert "predtui.registry" in imported["predtui.settings"]
    graphlib.TopologicalSorter(imported).prepare()  # raises CycleError with the circle
