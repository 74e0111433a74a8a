from __future__ import annotations

import io
import unicodedata
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.foreign import MOST_MARKS, gated, harmless, printable, ungated, without_controls
from tests import foreign

TEXTS = st.text(st.characters() | st.sampled_from("".join(foreign.EVERYTHING)))
SCRIPTS = ("👩\u200d👩\u200d👧", "❤\ufe0f", "हिन्दी", "ক্\u200dষ", "می\u200cخواهم", "שָׁלוֹם", "ế", "1\ufe0f\u20e3", "བསྒྲུབས")


@given(TEXTS)
def test_what_is_printable_commands_nothing_and_stays_so(text: str) -> None:
    for gate in (printable, harmless):
        shown = gate(text)
        assert not foreign.forbidden(shown)
        assert foreign.marks(shown) <= MOST_MARKS
        assert gate(shown) == shown


def test_ten_thousand_strings_are_printed_as_one_line_each() -> None:
    for text in foreign.strings(10_000):
        shown = printable(text)
        assert not foreign.forbidden(shown)
        assert foreign.marks(shown) <= MOST_MARKS


@pytest.mark.parametrize("text", SCRIPTS)
def test_scripts_keep_the_marks_and_joiners_they_need(text: str) -> None:
    assert printable(text) == harmless(text) == without_controls(text) == text


@given(TEXTS)
def test_what_a_person_writes_keeps_its_direction_and_loses_its_commands(text: str) -> None:
    written = without_controls(text)
    assert not [c for c in foreign.forbidden(written) if unicodedata.category(c) not in ("Cf", "Mn")]
    assert len(written) == len(text)


class TestStreams:
    def test_ten_thousand_strings_leave_only_lines_tabs_and_colours(self) -> None:
        out = io.StringIO()
        for text in foreign.strings(10_000):
            print(text, file=gated(out))
        said = foreign.OWN.sub("", out.getvalue())
        assert set(foreign.forbidden(said)) <= {"\n", "\t"}

    @given(st.lists(TEXTS))
    def test_a_line_stays_a_line(self, texts: list[str]) -> None:
        out = io.StringIO()
        gated(out).writelines(f"{printable(text)}\n" for text in texts)
        assert out.getvalue() == "".join(f"{printable(text)}\n" for text in texts)

    def test_it_is_otherwise_the_stream_itself(self) -> None:
        out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="replace")
        gate = gated(out)
        print("\x1b[1mbold\x1b[0m \x1b[2J", file=gate, flush=True)
        assert cast(io.BytesIO, gate.buffer).getvalue() == b"\x1b[1mbold\x1b[0m  [2J\n"
        assert gate.encoding == "ascii"
        assert ungated(gate) is ungated(out) is out
