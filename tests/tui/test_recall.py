"""Earlier prompts in the input line, as in a shell."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.tui.recall import Recall

prompts = st.lists(st.text("ab c", min_size=1, max_size=4), max_size=8)


def recall(earlier: list[str], own: list[str]) -> Recall:
    made = Recall(lambda: earlier)
    for text in own:
        made.add(text)
    return made


def each_once(earlier: list[str], own: list[str]) -> list[str]:
    """The newest first."""
    return list(dict.fromkeys(text.strip() for text in reversed(earlier + own) if text.strip()))


@given(prompts, prompts)
def test_up_goes_through_every_prompt_and_down_comes_back(earlier: list[str], own: list[str]) -> None:
    walked, line, seen = recall(earlier, own), "", list[str]()
    while (older := walked.older(line)) is not None:
        seen.append(line := older)
    assert seen == each_once(earlier, own)
    back = [line] if seen else []
    while (newer := walked.newer(line)) is not None:
        back.append(line := newer)
    assert back == [*reversed(seen), ""] if seen else back == []


@given(prompts, st.integers(0, 4), st.text("xyz", min_size=1))
def test_in_a_line_that_was_edited_the_keys_are_for_the_cursor(own: list[str], ups: int, typed: str) -> None:
    walked, line = recall([], own), ""
    for _ in range(ups):
        line = walked.older(line) or line
    edited = line + typed
    assert walked.older(edited) is None
    assert walked.newer(edited) is None


@given(prompts, prompts, st.text("ABC "))
def test_a_search_finds_all_that_have_the_words(earlier: list[str], own: list[str], words: str) -> None:
    found = recall(earlier, own).matching(words)
    wanted = words.lower().split()
    assert found == [text for text in each_once(earlier, own) if all(word in text for word in wanted)]
