"""What is kept is what was said: of every conversation, by several writers, past a kill, and not past a deletion."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.state.exchange import Exchange
from predtui.state.kept.store import LAST, LONGEST_NAME, VERSION, Store

exchanges = st.builds(
    Exchange,
    st.text(max_size=20),
    st.text(max_size=20),
    st.booleans(),
    st.none() | st.text(max_size=9),
    st.lists(st.from_regex(r"[a-z ./é]{1,9}", fullmatch=True), max_size=3).map(tuple),
)
NUMBERS = count()
here = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def fresh(folder: Path) -> Path:
    return folder / str(next(NUMBERS)) / "conversations.db"


def said(path: Path, *dialogues: list[Exchange]) -> list[int]:
    """Keeps each dialogue as a session; their numbers."""
    with Store(path, "someone") as store:
        numbers = []
        for dialogue in dialogues:
            number = 0
            for place, exchange in enumerate(dialogue):
                number = store.put(number, place, exchange)
            numbers.append(number)
        return numbers


@given(st.lists(st.lists(exchanges, min_size=1, max_size=4), min_size=1, max_size=3))
@here
def test_every_conversation_comes_back_as_it_was(tmp_path: Path, dialogues: list[list[Exchange]]) -> None:
    path = fresh(tmp_path)
    numbers = said(path, *dialogues)
    with Store(path) as store:
        assert [list(store.exchanges(number)) for number in numbers] == dialogues
        listed = store.sessions()
    assert [one.number for one in listed] == numbers[::-1]
    assert [(one.title, one.turns) for one in listed[::-1]] == [(each[0].user, len(each)) for each in dialogues]


@given(st.lists(st.tuples(st.integers(0, 2), exchanges), min_size=1, max_size=9))
@here
def test_an_exchange_that_grows_stays_one(tmp_path: Path, written: list[tuple[int, Exchange]]) -> None:
    path = fresh(tmp_path)
    with Store(path, "someone") as store:
        number = 0
        for place, exchange in written:
            number = store.put(number, place, exchange)
        assert store.exchanges(number) == tuple(exchange for _, exchange in sorted(dict(written).items()))


def test_two_that_go_on_with_the_same_session_lose_nothing(tmp_path: Path) -> None:
    path = fresh(tmp_path)
    start = [Exchange("one", "1"), Exchange("two", "2")]
    (number,) = said(path, start)
    with Store(path, "left") as left, Store(path, "right") as right:
        assert left.put(number, 2, Exchange("l", "L")) == number
        branch = right.put(number, 2, Exchange("r", "R"))
        assert right.put(branch, 3, Exchange("rr", "RR")) == branch != number
        assert left.put(number, 3, Exchange("ll", "LL")) == number
        assert left.exchanges(number) == (*start, Exchange("l", "L"), Exchange("ll", "LL"))
        assert left.exchanges(branch) == (*start, Exchange("r", "R"), Exchange("rr", "RR"))


def test_what_is_deleted_is_gone_from_the_file_and_its_number_is_not_given_again(tmp_path: Path) -> None:
    path = fresh(tmp_path)
    secret, other = said(path, [Exchange("my pin is 4711", "Noted.")], [Exchange("hello", "Hello.")])
    with Store(path, "someone") as store:
        store.delete(other)
        store.delete(secret)
        assert store.sessions() == []
        assert store.exchanges(secret) == ()
        assert not any(b"4711" in file.read_bytes() for file in path.parent.iterdir())
        again = store.put(secret, 5, Exchange("and now", "Now."))
        assert again not in (secret, other)
        assert store.exchanges(again) == (Exchange("and now", "Now."),)


@pytest.mark.parametrize(("wanted", "found"), [("", 2), ("ÄRGER", 1), ("noted", 1), ("%", 0), ("s", 2), ("x'; --", 0)])
def test_search_finds_what_either_side_said_in_letters_of_any_case(tmp_path: Path, wanted: str, found: int) -> None:
    path = fresh(tmp_path)
    said(path, [Exchange("wozu ärger", "Das ist so.")], [Exchange("was first", "Noted.")])
    with Store(path) as store:
        assert len(store.sessions(wanted)) == found


@given(st.lists(st.sampled_from("abcd"), max_size=8), st.integers(1, 5))
@here
def test_prompts_come_once_each_the_newest_last(tmp_path: Path, asked: list[str], most: int) -> None:
    path = fresh(tmp_path)
    said(path, [Exchange(text, "") for text in asked])
    newest = list(dict.fromkeys(reversed(asked)))[:most]
    with Store(path) as store:
        assert store.prompts(most) == newest[::-1]


def test_a_session_is_found_by_its_number_or_as_the_last(tmp_path: Path) -> None:
    path = fresh(tmp_path)
    with Store(path) as store, pytest.raises(PredtuiError, match="No conversation"):
        store.find(LAST)
    first, second = said(path, [Exchange("a", "")], [Exchange("b", "")])
    with Store(path) as store:
        assert store.find(str(first)).title == "a"
        assert store.find(LAST).number == second
        for none in ("99", "0", "x", "-1"):
            with pytest.raises(PredtuiError, match=f"No session {none}"):
                store.find(none)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@given(st.text(max_size=200))
@here
def test_a_name_is_one_line_by_which_a_session_is_listed_and_found(tmp_path: Path, name: str) -> None:
    path = fresh(tmp_path)
    number, _ = said(path, [Exchange("first prompt", "b")], [Exchange("another", "b")])
    with Store(path) as store:
        store.rename(number, name)
        title = store.find(str(number)).title
        assert len(title) <= LONGEST_NAME
        assert title == " ".join(title.split())
        assert not any(ord(character) < 32 for character in title)
        if title != "first prompt":
            assert number in [one.number for one in store.sessions(title)]
        store.rename(number, "")
        assert store.find(str(number)).title == "first prompt"


def test_a_file_of_the_version_before_keeps_what_it_has(tmp_path: Path) -> None:
    path = fresh(tmp_path)
    number = said(path, [Exchange("a", "b")])[0]
    with sqlite3.connect(path) as base:
        base.execute("ALTER TABLE sessions DROP COLUMN name")
        base.execute("ALTER TABLE exchanges DROP COLUMN notes")
        base.execute("PRAGMA user_version = 1")
    with Store(path) as store:
        assert store.find(str(number)).title == "a"
        store.rename(number, "named")
        assert store.find(str(number)).title == "named"


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    path = fresh(tmp_path)
    with Store(path, "someone") as store:
        store.put(0, 0, Exchange("a", "b"))
        files = list(path.parent.iterdir())
        assert len(files) > 1
        assert {oct(file.stat().st_mode & 0o777) for file in files} == {"0o600"}
        assert oct(path.parent.stat().st_mode & 0o777) == "0o700"


def test_what_cannot_be_used_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    damaged, newer, beneath = fresh(tmp_path), fresh(tmp_path), tmp_path / "file" / "folder" / "a.db"
    (tmp_path / "file").write_text("no folder")
    damaged.parent.mkdir()
    damaged.write_bytes(b"no database at all " * 300)
    said(newer, [Exchange("a", "b")])
    with sqlite3.connect(newer) as base:
        base.execute(f"PRAGMA user_version = {VERSION + 1}")
    for path, why in ((damaged, "Move it away"), (newer, "newer predtui"), (beneath, "Check the file")):
        with pytest.raises(PredtuiError, match=why) as raised:
            Store(path)
        assert str(path) in str(raised.value)
        assert "\n" not in str(raised.value)
    assert damaged.read_bytes().startswith(b"no database")


WRITER = """
import sys
from pathlib import Path
from predtui.state.exchange import Exchange
from predtui.state.kept.store import Store

store, number = Store(Path(sys.argv[1]), "killed"), 0
for place in range(10_000):
    number = store.put(number, place, Exchange(f"prompt {place}", "half", True, ""))
    number = store.put(number, place, Exchange(f"prompt {place}", f"reply {place} " * 50))
    print(place, flush=True)
"""


@pytest.mark.parametrize("turns", [1, 7, 40])
def test_a_kill_in_the_middle_loses_at_most_the_turn_being_written(tmp_path: Path, turns: int) -> None:
    path = fresh(tmp_path)
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        written = [int(writer.stdout.readline()) for _ in range(turns)][-1]
        writer.kill()
    with Store(path, "survivor") as store:
        left = store.exchanges(store.find(LAST).number)
        assert len(left) > written
        for place, exchange in enumerate(left):
            whole = Exchange(f"prompt {place}", f"reply {place} " * 50)
            assert exchange == whole or (place == len(left) - 1 and exchange.assistant == "half")
        assert store.put(store.find(LAST).number, len(left), Exchange("on", "we go"))


FULL = """
import resource, sys
from pathlib import Path
from predtui.errors import PredtuiError
from predtui.state.exchange import Exchange
from predtui.state.kept.store import Store

path = Path(sys.argv[1])
store, number = Store(path, "someone"), 0
number = store.put(number, 0, Exchange("before", "it was full"))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 17, 1 << 17))
try:
    for place in range(1, 400):
        store.put(number, place, Exchange("x" * 3000, "y" * 3000))
except PredtuiError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_a_full_disk_is_told_and_leaves_what_was_kept(tmp_path: Path) -> None:
    path = fresh(tmp_path)
    told = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True).stdout
    assert str(path) in told
    assert "the room on its disk" in told
    with Store(path) as store:
        assert store.exchanges(1)[0] == Exchange("before", "it was full")
