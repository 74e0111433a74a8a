"""Where a template is metered: a visitor that puts charges, as filters, into its syntax tree.

Must not know of how much may be spent, nor of what a template is for.
"""

from __future__ import annotations

from typing import Any

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

SPEND, MADE, SLICED, JOINED, ADDED = "~spend", "~made", "~sliced", "~joined", "~added"
"""Filters that only the meter can name."""


class Metering(NodeTransformer):
    """Puts a charge at the head of each loop and macro, and around what makes values out of values."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - named so by the base class
        return self._charged(node)

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:  # noqa: N802
        return self._charged(node)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:  # noqa: N802
        return self._charged(node)

    def _charged(self, node: Any) -> nodes.Node:
        self.generic_visit(node)
        written = sum(len(part.data) for part in node.find_all(nodes.TemplateData))
        amount = nodes.Const(written, lineno=node.lineno)
        node.body.insert(0, nodes.ExprStmt(_filter(amount, SPEND), lineno=node.lineno))
        return node  # type: ignore[no-any-return]

    def visit_Add(self, node: nodes.Add) -> nodes.Node:  # noqa: N802
        values: list[nodes.Expr] = []
        first: nodes.Expr = node
        while isinstance(first, nodes.Add):
            values.append(self.visit(first.right))
            first = first.left
        values.append(self.visit(first))
        return _filter(nodes.Tuple(values[::-1], "load", lineno=node.lineno), ADDED)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filter(node, SLICED) if isinstance(node.arg, nodes.Slice) else node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.expr = _weighed(node.expr)
        for operand in node.ops:
            operand.expr = _weighed(operand.expr)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filter(nodes.Tuple(node.nodes, "load", lineno=node.lineno), JOINED)

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return node if all(isinstance(item, nodes.Const) for item in node.items) else _filter(node, MADE)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return node if node.ctx != "load" else _filter(node, MADE)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filter(node, MADE)


def _weighed(node: nodes.Expr) -> nodes.Expr:
    return node if isinstance(node, nodes.Const) else _filter(node, MADE)


def _filter(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)
