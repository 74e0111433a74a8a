"""What terminals send for keys, as each is documented to, and what comes of it however the bytes are cut."""

from __future__ import annotations

from codecs import getincrementaldecoder
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser
from textual.events import Key
from textual.message import Message

from predtui.tui import kitty
from predtui.tui.keys import RELEASE, TALK
from predtui.tui.unix_terminal import Parser

HELD = (TALK, RELEASE)


class Stream(NamedTuple):
    """``sent``: what it answers; then F2, held so long that it repeats, "é", Shift+A, Enter and Ctrl+Q, each let go
    where the terminal tells. ``flags``: that it says are set. ``tells``: of releases."""

    sent: bytes
    flags: tuple[int, ...]
    tells: bool = True


def enhanced(f2: bytes, held: bytes, answers: bytes = b"\x1b[?25u\x1b[?27u") -> bytes:
    """With Textual's flags and ours: every key is an escape code with its text and, but for presses, its kind."""
    letters = (
        b"\x1b[233;;233u\x1b[233;1:3u"
        b"\x1b[57441;2u\x1b[97;2;65u\x1b[97;2:3u\x1b[57441;1:3u"
        b"\x1b[13u\x1b[13;1:3u"
        b"\x1b[57442;5u\x1b[113;5u\x1b[113;5:3u\x1b[57442;1:3u"
    )
    return answers + f2 + held % b"2" * 3 + held % b"3" + letters


LEGACY = b"\x1bOQ" * 4 + "é".encode() + b"A\r\x11"
STREAMS = {
    "kitty": Stream(enhanced(b"\x1b[Q", b"\x1b[1;1:%sQ"), (25, 27)),
    "kitty, Num Lock": Stream(enhanced(b"\x1b[1;129Q", b"\x1b[1;129:%sQ"), (25, 27)),
    "foot": Stream(enhanced(b"\x1bOQ", b"\x1b[1;1:%sQ"), (25, 27)),
    "WezTerm": Stream(enhanced(b"\x1b[12~", b"\x1b[12;1:%s~"), (25, 27)),
    "WezTerm, not enabled": Stream(LEGACY, (), tells=False),
    "Ghostty": Stream(enhanced(b"\x1b[Q", b"\x1b[1;1:%sQ"), (25, 27)),
    "iTerm2": Stream(enhanced(b"\x1b[Q", b"\x1b[1;1:%sQ"), (25, 27)),
    "Konsole": Stream(enhanced(b"\x1bOQ", b"\x1b[1;1:%sQ"), (25, 27)),
    "Konsole, older": Stream(LEGACY, (), tells=False),
    "presses marked": Stream(enhanced(b"\x1b[1;1:1Q", b"\x1b[1;1:%sQ"), (25, 27)),
    "xterm": Stream(LEGACY, (), tells=False),
    "tmux": Stream(LEGACY, (), tells=False),
    "screen": Stream(LEGACY, (), tells=False),
}
SHIFTS = ("left_shift", "left_control")


def read(pieces: list[bytes]) -> tuple[list[str], list[int]]:
    """Names and text of the keys, as ``name=text``, without those of modifiers alone; and the flags that were told."""
    told: list[int] = []
    parser, decode = Parser(told.append), getincrementaldecoder("utf-8")().decode
    came: list[Message] = [message for piece in pieces if (text := decode(piece)) for message in parser.feed(text)]
    keys = [message for message in came if isinstance(message, Key)]
    assert len(keys) == len(came)
    return [key.key if key.key in HELD else f"{key.key}={key.character}" for key in keys if key.key not in SHIFTS], told


@pytest.mark.parametrize("name", STREAMS)
def test_what_comes_of_each(name: str) -> None:
    stream = STREAMS[name]
    keys, told = read([stream.sent])
    talk = list(HELD) if stream.tells else [TALK] * 4
    quit_key = "ctrl+q=None" if stream.tells else "ctrl+q=\x11"
    assert keys == [*talk, "é=é", "A=A", "enter=\r", quit_key]
    assert tuple(told) == stream.flags


@given(st.sampled_from(sorted(STREAMS)), st.lists(st.integers(0, 300), max_size=40))
def test_any_cut_gives_the_same_keys(name: str, cuts: list[int]) -> None:
    sent = STREAMS[name].sent
    edges = sorted({0, len(sent), *(cut for cut in cuts if cut < len(sent))})
    pieces = [sent[start:end] for start, end in pairwise(edges)]
    assert read(pieces) == read([sent]) == read([bytes([byte]) for byte in sent])


CODES = st.sampled_from(["", "1", "12", "13", "27", "97", "233", "57399", "57417"])
MODIFIERS = st.sampled_from(["", "1", "2", "5", "6", "65", "129"])


@given(CODES, MODIFIERS, st.sampled_from(["", ";65", ";233"]), st.sampled_from("u~ABCDHPQRS"))
def test_a_key_reported_with_its_kind_is_the_key_without(code: str, modifiers: str, text: str, end: str) -> None:
    """Repeats type as presses do; releases type nothing."""

    def keys(sequence: str) -> list[tuple[str, str | None]]:
        return [(m.key, m.character) for m in Parser([].append).feed(sequence) if isinstance(m, Key)]

    shown = modifiers if modifiers not in ("", "1") else ""
    assume(end != "R" or not shown)  # without a kind, that is where the cursor is
    plain = f"\x1b[{code}{f';{shown}' if shown or text else ''}{text}{end}"
    before = [(m.key, m.character) for m in XTermParser().feed(plain) if isinstance(m, Key)]
    talk = [key for key, _ in before if key.rpartition("+")[2] == TALK]
    assert keys(f"\x1b[{code};{modifiers}:1{text}{end}") == before
    assert keys(f"\x1b[{code};{modifiers}:2{text}{end}") == ([] if talk else before)
    assert keys(f"\x1b[{code};{modifiers}:3{text}{end}") == ([(RELEASE, None)] if talk else [])


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x1b\x00"), min_size=1, max_size=60))
def test_what_is_pasted_is_no_answer_and_no_key(text: str) -> None:
    inside = f"{text}\x1b[?2u\x1b[1;1:3Q"
    told: list[int] = []
    ours = list(Parser(told.append).feed(f"\x1b[200~{inside}\x1b[201~a"))
    theirs = list(XTermParser().feed(f"\x1b[200~{inside}\x1b[201~a"))
    assert [repr(message) for message in ours] == [repr(message) for message in theirs]
    assert told == []


@pytest.mark.parametrize(
    "other", ["\x1b[I", "\x1b[<0;3;4M", "\x1b[?2026;2$y", "\x1b[12;40R", "\x1b[15;2~", "\x1b", "a", "\x1bOP"]
)
def test_all_else_passes_as_it_is(other: str) -> None:
    assert kitty.stroke(other) == (other, "pressed")
    assert kitty.flags(other) is None


@pytest.mark.parametrize("sent", ["\x1b\r", "\x1b[13;3u"])
def test_alt_and_enter_are_not_enter_alone(sent: str) -> None:
    parser = Parser([].append)
    came = [*parser.feed(sent), *parser.feed("")]
    assert [key.key for key in came if isinstance(key, Key)] == ["alt+enter"]
