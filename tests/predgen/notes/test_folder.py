"""What is read of a folder of notes, what is left out and why, and that changes are noticed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.foreign import printable
from predtui.predgen.notes import folder
from predtui.predgen.notes.folder import NotesFolder
from predtui.predgen.notes.notes import LOOKED_AT_S, Notes
from predtui.predgen.notes.passages import LONGEST, passages


def told(notes: Notes, at_once: bool = True) -> list[str]:
    return [notice.text for notice in notes.look(at_once)]


def test_text_and_markdown_are_read_at_any_depth_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    for name in ("x.md", "a/y.TXT", "a/b/z.markdown", "a/b/z.py", ".git/w.md", ".hidden.md"):
        (tmp_path / name).write_text("words")
    assert sorted(NotesFolder(str(tmp_path)).look().read) == ["a/b/z.markdown", "a/y.TXT", "x.md"]


def test_what_cannot_be_read_is_told_in_one_line_and_the_rest_is_read(tmp_path: Path) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("the secret word is mackerel")
    notes_in = tmp_path / "notes"
    notes_in.mkdir()
    (notes_in / "good.md").write_text("the carrots are orange")
    (notes_in / "latin.txt").write_bytes("café".encode("latin-1"))
    (notes_in / "image.txt").write_bytes(b"PNG\0\0")
    (notes_in / "long.md").write_bytes(b"x" * (folder.LARGEST + 1))
    (notes_in / "gone.md").symlink_to(tmp_path / "nowhere")
    (notes_in / "out.md").symlink_to(outside)
    (notes_in / "loop").symlink_to(notes_in)
    (notes_in / "self.md").symlink_to(notes_in / "self.md")
    os.mkfifo(notes_in / "pipe.md")
    read = NotesFolder(str(notes_in))
    assert set(read.look().read) == {"good.md"}
    assert set(read.left_out) == {"latin.txt", "image.txt", "long.md", "gone.md", "out.md", "self.md", "pipe.md"}
    notes = Notes(str(notes_in), VirtualClock().now)
    (line,) = told(notes)
    assert "1 notes are read" in line
    assert "4 more" in line
    assert not notes.passages("what is the secret word mackerel")
    assert [one.note for one in notes.passages("carrots")] == ["good.md"]
    assert told(notes) == []


@pytest.mark.parametrize("made", [None, "file", "folder"])
def test_a_folder_without_notes_is_told_and_its_notes_are_read_once_they_are_there(
    tmp_path: Path, made: str | None
) -> None:
    at = tmp_path / "notes"
    if made == "file":
        at.write_text("words")
    if made == "folder":
        at.mkdir()
    notes = Notes(str(at), VirtualClock().now)
    (line,) = told(notes)
    assert "--context" in line
    assert "\n" not in line
    assert notes.passages("carrots") == ()
    at.unlink() if made == "file" else None
    at.mkdir(exist_ok=True)
    (at / "one.md").write_text("carrots")
    assert told(notes) == [f"1 notes of {at} are read now."]
    assert notes.passages("carrots")


def test_a_folder_of_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (line,) = told(Notes(str(tmp_path), VirtualClock().now))
    assert "latin.txt (it is not UTF-8)" in line


def test_a_folder_that_goes_away_is_told_and_what_was_in_it_is_found_no_more(tmp_path: Path) -> None:
    at = tmp_path / "notes"
    at.mkdir()
    (at / "one.md").write_text("carrots")
    notes = Notes(str(at), VirtualClock().now)
    assert told(notes) == []
    (at / "one.md").unlink()
    at.rmdir()
    assert [f"{at} does not exist" in line for line in told(notes)] == [True]
    assert notes.passages("carrots") == ()
    assert told(notes) == []


def test_changes_are_noticed_at_once_at_the_end_and_after_a_while_before(tmp_path: Path) -> None:
    clock = VirtualClock()
    (tmp_path / "one.md").write_text("carrots are orange")
    notes = Notes(str(tmp_path), clock.now)
    told(notes)
    (tmp_path / "one.md").write_text("carrots are purple by now")
    told(notes, at_once=False)
    assert "orange" in notes.passages("carrots")[0].text
    clock.advance(LOOKED_AT_S)
    told(notes, at_once=False)
    assert "purple" in notes.passages("carrots")[0].text
    (tmp_path / "one.md").unlink()
    told(notes)
    assert notes.passages("carrots") == ()


def test_no_more_is_read_than_a_worker_can_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MOST", 3)
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("carrots")
    notes = Notes(str(tmp_path), VirtualClock().now)
    assert told(notes) == ["3 notes are read; there are too many for the rest."]
    assert len(notes) == 3


@given(st.text(max_size=3000))
def test_a_passage_is_one_line_of_bounded_length_that_commands_no_terminal(text: str) -> None:
    for one in passages("n", f"# heading\x1b[31m\n\n{text}\x1b]0;title\x07"):
        assert one.text == printable(one.text)
        assert "\x1b" not in one.text
        assert 0 < len(one.text) <= LONGEST + LONGEST // 4 + 2


@given(st.lists(st.from_regex(r"[a-z]{1,12}", fullmatch=True), max_size=400))
def test_no_word_of_a_note_is_lost(words: list[str]) -> None:
    text = "".join(word + ("\n\n" if number % 7 == 6 else " ") for number, word in enumerate(words))
    assert " ".join(one.text for one in passages("n", text)).split() == words
