"""Markdown without its marks: lists with their numbers, tables cell by cell, code told of instead of read out.

Must not know how numbers and signs are said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from predtui.tts.spoken.addresses import is_address
from predtui.tts.spoken.lexicon import Lexicon

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_TAG = re.compile(r"</?[a-zA-Z][\w-]{0,20}(?:\s[^<>]{0,200})?/?>")
_LATEX = (
    (re.compile(r"(?<=[\w})]) - (?=[^\n$]{1,200}(?:\\\)|\\\]|\$\$))"), " − "),
    (re.compile(r"\^\{(-?\w{1,9})\}"), r"^\1"),
    (re.compile(r"\\sqrt\{([^{}]{1,40})\}"), r"√\1"),
    (re.compile(r"\\[dt]?frac\{(\d{1,3})\}\{(\d{1,3})\}"), r"\1/\2"),
    (re.compile(r"\\[dt]?frac\{([^{}]{1,60})\}\{([^{}]{1,60})\}"), r"\1 ÷ \2"),
    (re.compile(r"\\(?:text|mathrm|mathbf)\{([^{}]{0,80})\}"), r"\1"),
    (re.compile(r"\\(?:times|cdot)\b"), "×"),
    (re.compile(r"\\(?:approx)\b"), "≈"),
    (re.compile(r"\\(?:leq?)\b"), "≤"),
    (re.compile(r"\\(?:geq?)\b"), "≥"),
    (re.compile(r"\\pm\b"), "±"),
    (re.compile(r"\\[()\[\]]|\$\$"), " "),
)
_TASK = re.compile(r"^\[[ xX]\]\s")
_NOTE = re.compile(r"\[\^\w{1,20}\]|(?<=\w)\[\d{1,3}\]")
_NAME = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\w)_+(?=\w)|::")
_PUNCTUATION = re.compile(r"[(){}\[\]<>'\"`;|\\$!]+|--?(?=[a-z])|_{2,}|(?<!\w)_|_(?!\w)")
_READ_OUT = 40
"""Characters of code within a sentence that are still read out."""
_LANGUAGES = {
    "py": "Python", "python": "Python", "js": "JavaScript", "javascript": "JavaScript", "ts": "TypeScript",
    "typescript": "TypeScript", "sh": "shell", "bash": "shell", "zsh": "shell", "shell": "shell", "console": "shell",
    "cpp": "C plus plus", "c++": "C plus plus", "cs": "C sharp", "csharp": "C sharp", "rs": "Rust", "rb": "Ruby",
    "md": "Markdown", "yml": "YAML", "text": "", "txt": "", "plaintext": "", "": "",
}  # fmt: skip


def plain(text: str, words: Lexicon) -> str:
    """The text that is left; its blocks are sentences."""
    for pattern, written in _LATEX if "\\" in text or "^{" in text else ():
        text = pattern.sub(written, text)
    if words.counted:
        text = re.sub(rf"(?m)^(\s{{0,9}}\d{{1,3}})\.(?=\s(?:{words.counted})\b)", r"\1\\.", text)
    return " ".join(_stopped(_blocks(_parser().parse(text), words)))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return (
        MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
        .disable(["entity", "autolink", "html_block", "html_inline", "code"])
    )


def _blocks(tokens: list[Token], words: Lexicon) -> list[str]:
    """Each paragraph, item, cell and piece of code, with the mark that separates it from the next."""
    number, cell, blocks = "", "", list[str]()
    for token in tokens:
        if token.type == "list_item_open":
            number = token.info
        elif token.type in ("th_open", "td_open"):
            cell = ","
        elif token.type == "tr_close" and blocks:
            blocks[-1], cell = blocks[-1].removesuffix(","), ""
        elif token.type == "fence":
            blocks.append(_announced(token.info, words))
        elif token.type == "inline" and (said := _inline(token, words).strip()):
            blocks.append(f"{number}{':' if number else ''} {said}{cell}".strip())
            number = ""
    return blocks


def _stopped(blocks: list[str]) -> Iterator[str]:
    """A full stop between blocks that have no mark of their own."""
    for at, block in enumerate(blocks):
        last = at == len(blocks) - 1
        if last:
            yield block.removesuffix(",")
        else:
            yield f"{block}." if block[-1].isalnum() or block[-1] in ")%" else block


def _inline(token: Token, words: Lexicon) -> str:
    parts: list[str] = []
    struck = 0
    for child in token.children or []:
        struck += (child.type == "s_open") - (child.type == "s_close")
        if struck:
            continue
        if child.type == "code_inline":
            parts.append(_code(child.content, words))
        elif child.type in ("text", "image"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return _NOTE.sub("", _TASK.sub("", _TAG.sub(" ", "".join(parts))))


def _announced(info: str, words: Lexicon) -> str:
    """What is said for a block of code: its language."""
    name = (info.split() or [""])[0].lower().strip("{}.")
    title = _LANGUAGES.get(name, name.capitalize() if name.isalpha() else "")
    said = (words.code or "{}").format(title).strip() if title else words.code.replace("{}", "").strip(" -")
    said = said.removesuffix(" in") or "code"
    return f"{said[0].upper()}{said[1:]}."


def _code(content: str, words: Lexicon) -> str:
    """Code within a sentence: names as words, calls without their brackets; what is long is only told of."""
    if is_address(content):
        return content
    if len(content) > _READ_OUT and sum(not (one.isalnum() or one.isspace()) for one in content) > len(content) // 8:
        return words.code.replace("{}", "").strip(" -").removesuffix(" in") or content
    dot = words.address.get(".", ".")
    said = re.sub(r"(?<=[A-Za-z_)])\.(?=[A-Za-z_])", f" {dot} ", content)
    return re.sub(r"\s+", " ", _PUNCTUATION.sub(" ", _NAME.sub(" ", said))).strip() or content
