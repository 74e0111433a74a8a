"""Ranges, signs, powers, products and fractions. Must not know a language's words."""

from __future__ import annotations

import re
import unicodedata

from predtui.tts.spoken.lexicon import Lexicon

_RAISED = {ord(mark): digit for mark, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ", "0123456789-n", strict=True)}
_LOWERED = {ord(mark): digit for mark, digit in zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)}
_RAISED_RUN = re.compile(rf"(?<=[\w)])[{''.join(map(chr, _RAISED))}]+")
_VULGAR = re.compile(r"(?:(\d)\s?)?([¼-¾⅐-⅞])")
_PRODUCT = re.compile(r"(?<=\d)(\s?)\*\1(?=\d)|(?<![\w*])(?:\d+|[A-Za-z])(?:\*(?:\d+|[A-Za-z]))+(?![\w*])")
_POWER_OF_PYTHON = re.compile(r"(?<=\d)(\s?)\*\*\1(?=\d)")
_BY = re.compile(r"(?<=\d{3})(\s?)[x×]\1(?=\d{3})")
_TIMES = re.compile(r"(?<=\d)(\s?)[xX×]\1(?=\d)|(?<=\d)\s?[x×](?!\w|\s*[-+=*/^×<>])")
_SUBTRACTED = re.compile(r"(?<=\d)(?:\s+[-−]\s+(?=\d)|[-−](?=\d{1,9}\s?=))")
_RANGE = re.compile(r"(?<=[\d%°])(?:[-–—]|\s–\s)(?=[$€£]?\d)")
_NEGATIVE = re.compile(r"(?<![\w)\]%°.,/-])[-−–](?=[$€£]?\.?\d)")
_POWER = re.compile(r"(?<=[\w)])\s?\^\s?(?:\(\s?([-−]?[\w.]{1,9}(?:\s?[-+−]\s?\w{1,3})?)\s?\)|([-−]?[\w.]{0,8}\w))")
_NEGATED = re.compile(r"(?<=[=(])\s?[-−](?=[a-z](?!\w))")
_GREATER = re.compile(r"(?<=\d)\s?>\s?(?=\d)|(?<=\b[a-z])\s?>\s?(?=\w\b)")
_LESS = re.compile(r"(?<=\d)\s?<\s?(?=\d)|(?<=\b[a-z])\s?<\s?(?=\w\b)")
_SCIENTIFIC = re.compile(r"(?<=\d)[eE]([-+]?\d{1,3})(?!\w)")
_DIVIDED = re.compile(r"(?<=\d)\s+/\s+(?=\d)|(?<=\d)/(?=\d{1,9}\s?=)")
_FRACTION = re.compile(r"(?<![\w/.,])(?:(\d{1,4})\s)?(\d{1,3})/(\d{1,3})(?![\w/]|[.,]\d)")


def prepared(text: str) -> str:
    """With one way of writing for each operation, and none that Markdown takes for emphasis."""
    text = _SCIENTIFIC.sub(r" × 10^\1", _POWER_OF_PYTHON.sub("^", text))
    if "<" in text or ">" in text:
        text = _LESS.sub(" < ", _GREATER.sub(" > ", text))
    text = _PRODUCT.sub(lambda match: match[0].replace("*", " × "), text)
    if text.isascii():
        return text
    text = _RAISED_RUN.sub(lambda match: f"^{match[0].translate(_RAISED)}", text).translate(_LOWERED)
    return _VULGAR.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    fraction = unicodedata.normalize("NFKC", match[2]).replace("\u2044", "/")
    return f"{match[1]} {fraction}" if match[1] else fraction


def ranges(text: str, words: Lexicon) -> str:
    """Before quantities, whose unit stands behind the second number alone."""
    if not words.to:
        return text
    text = _SUBTRACTED.sub(f" {words.minus} ", text)
    text = _RANGE.sub(f" {words.to} ", text)
    text = _NEGATED.sub(f" {words.minus} ", text)
    return _NEGATIVE.sub(f"{words.minus} ", text)


def said(text: str, words: Lexicon) -> str:
    """Behind quantities, which have signs of their own."""
    if not words.symbols:
        return text
    text = _DIVIDED.sub(f" {words.symbols['÷']} ", text)
    text = _FRACTION.sub(lambda match: _fraction(match, words), text)
    text = _BY.sub(f" {words.symbols['by']} ", text)
    text = _TIMES.sub(f" {words.symbols['×']} ", text)
    text = _POWER.sub(lambda match: _power(match[1] or match[2], words), text)
    for symbol, name in words.symbols.items():
        if not symbol[0].isalnum() and symbol in text:
            text = text.replace(symbol, f" {name} ")
    return text


def _power(exponent: str, words: Lexicon) -> str:
    if exponent in words.squared:
        return f" {words.squared[exponent]}"
    negative = exponent[0] in "-−"
    rest = re.sub(r"[-−]", f" {words.minus} ", exponent[negative:])
    return f" {words.power} {words.minus if negative else ''} {rest}"


def _fraction(match: re.Match[str], words: Lexicon) -> str:
    whole, over, under = match[1], match[2], match[3]
    said = words.fractions.get(f"{over}/{under}") or (words.fraction(over, under) if words.fraction else match[0])
    return f"{whole} {words.symbols['and']} {said}" if whole else said
