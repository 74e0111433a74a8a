"""A reply's Markdown as lines of styled text. Only styles come of it: no link is followed, and nothing is left out but
the marks themselves. Must not know of widgets, nor of what is spoken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from textual.content import Content

from predtui.tui.gate import assemble
from predtui.tui.wrapping import Continued, wrapped

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LITERAL = ("entity", "link", "image", "autolink", "reference", "html_block", "html_inline")
"""What stays as it is written: a terminal shows an address better than it follows one."""
NARROWEST = 8
"""Cells for words: deeper lists are not set in further."""
_STYLES = {"strong": "bold", "em": "italic"}


def rendered(text: str, width: int, indent: int = 0) -> tuple[Content, ...]:
    """``text`` as lines within ``width`` cells, one at least, all but the first of which follow ``indent`` blanks; for
    words there are always ``NARROWEST`` cells. What is not closed yet is styled as far as it goes, or as it is written.
    """
    lines: list[Content] = []
    for first, others, words in _blocks(text):
        if width - indent - len(first) < NARROWEST:
            first, others, words = "", "", assemble(first.strip(" "), words)
        for at, line in enumerate(wrapped(words, max(NARROWEST, width - indent - len(first)))):
            before = others if at else first
            glue = line.glue if isinstance(line, Continued) else "\n"
            drawn = assemble(" " * indent if lines else "", (before, ".dim"), line)
            lines.append(Continued(drawn, glue, indent + len(before) * (at > 0)) if lines else drawn)
    return tuple(lines) or (assemble(),)


def marked(lines: Sequence[Content], text: str, place: tuple[int, int], style: str) -> list[Content]:
    """``lines``, made of ``text`` by ``rendered``, with ``style`` on what stands between two places of that, which
    are found by counting letters: all of them are there."""
    start, end = (sum(map(str.isalnum, text[:at])) for at in place)
    drawn: list[Content] = []
    seen = 0
    for line in lines:
        letters = [at for at, character in enumerate(line.plain) if character.isalnum()]
        of_it = letters[max(0, start - seen) : max(0, end - seen)]
        styled = line.stylize(style, of_it[0], of_it[-1] + 1) if of_it else line
        drawn.append(Continued(styled, line.glue, line.indent) if isinstance(line, Continued) else styled)
        seen += len(letters)
    return drawn


@lru_cache(1)
def _parser() -> MarkdownIt:
    """Imported once there is a reply."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable(LITERAL)


Block = tuple[str, str, Content]
"""What stands before its first line, and before the others, and its words."""


def _blocks(text: str) -> Iterator[Block]:
    before: list[str] = []
    """What each list, item and quotation around sets before its lines; an item's mark is taken by its first block."""
    heading = False
    for token in _parser().parse(text):
        if token.type == "list_item_open":
            before.append(f"{token.info}{token.markup} " if token.info else "• ")
        elif token.type == "blockquote_open":
            before.append("▎ ")
        elif token.type in ("list_item_close", "blockquote_close"):
            if before[-1].strip(" ▎"):  # an item without words
                yield _set(before, assemble())
            before.pop()
        elif token.type == "heading_open":
            heading = True
        elif token.type == "inline":
            words = _inline(token.children or [])
            yield _set(before, words.stylize(".strong") if heading else words)
            heading = False
        elif token.type in ("fence", "code_block"):
            if token.info:
                yield _set(before, assemble((token.info, ".dim")))
            yield from (_code(*_set(before, assemble()), line.expandtabs(4)) for line in token.content.splitlines())
        elif token.type == "hr":
            yield _set(before, assemble((token.markup, ".dim")))


def _set(before: list[str], words: Content) -> Block:
    """``words`` behind what stands before them; from now on, spaces stand for the mark of an item."""
    first = "".join(before)
    before[:] = [part if part.startswith("▎") else " " * len(part) for part in before]
    return first, "".join(before), words


def _code(first: str, others: str, words: Content, line: str) -> Block:
    """A line of code, which is set in, and keeps its own indentation."""
    indent = " " * (2 + len(line) - len(line.lstrip(" ")))
    return first + indent, others + indent, assemble((line.strip(" "), ".code"), words)


def _inline(tokens: list[Token]) -> Content:
    parts: list[Content] = []
    styles: list[str] = []
    for token in tokens:
        kind = token.type.rpartition("_")[0]
        if token.type.endswith("_open"):
            styles.append(_STYLES.get(kind, ""))
        elif token.type.endswith("_close"):
            styles.pop()
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(assemble("\n"))
        else:
            words = assemble((token.content, ".code") if token.type == "code_inline" else token.content)
            for style in styles:
                words = words.stylize(style)
            parts.append(words)
    return assemble(*parts)
