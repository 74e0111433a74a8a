from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.text import (
    ASCII,
    CLAUSE_WORDS,
    LONG,
    LONGEST,
    clause_end,
    first_clause,
    first_sentence,
    is_marked,
    sentence_end,
    sentences,
)


@pytest.mark.parametrize(
    "parts",
    [
        ["Paris.", " It lies on the Seine!", " Is it old?", " Yes."],
        ["Pi is 3.14 and more.", " So it goes."],
        ["Mr. Smith met Dr. Jones at St. Mary's.", " He waved."],
        ["It opens at 9 a.m.", " The shop is near."],
        ["It opens at 9 a.m. on Mondays.", " The shop is near."],
        ["Fruit, e.g. Apples, is good.", " Eat it."],
        ["She lives in the U.S. Army base.", " So I hear."],
        ["J. K. Rowling wrote it.", " So did I.", " And you?"],
        ["Wait... Then go.", " Well… Stop."],
        ['He said "Go."', " Then he left."],
        ['"Why?" he asked.', " (Nobody knew.)", " The end."],
        ["Really?!", " Yes!!", " Fine."],
        ["See example.com/a.b for more.", " Thanks."],
        ["1. Boil the water.", "\n2. Add salt."],
        ["It was built in 1990.", " It is No. 5 of them.", " No.", " Never."],
        ["**Done.**", " Next."],
        ["你好。", "再见！"],
        ["मैं यहाँ हूँ।", " तुम कहाँ हो?", " ठीक है॥"],
        ["यह पेरिस है।", "यह पुराना है।"],
        ["كيف حالك؟", " أنا بخير.", " شكرا."],
        ["قال د. أحمد نعم.", " ثم ذهب."],
        ["آپ کیسے ہیں؟", " ٹھیک ہوں۔", " شکریہ۔"],
        ["Բարեւ։", " Ինչպես եք։"],
        ["ሰላም።", " እንዴት ነህ?"],
        ["នេះជាទីក្រុង។", " វាចាស់។"],
        ["ပါရီဖြစ်သည်။", " ဟောင်းသည်။"],
        ["東京です。", "「はい。」", "そうです！？", "ええ。"],
        ["円周率は３．１４です。", "はい．", "そう．"],
        ["他说：“你好。”", "然后走了。"],
        ["Τι είναι αυτό;", " Είναι το Παρίσι."],
        ["Am 3. Oktober 1990 war es.", " Gut."],
        ["Der 2. Weltkrieg endete 1945.", " Dann kam Frieden."],
        ["Im 19. Jahrhundert, am 5. Mai und zum 1. Mal.", " Ja."],
        ["Obst, z. B. Äpfel und z.B. Birnen, d. h. Kernobst, d.h. alles.", " Ja."],
        ["Das kostet 3,5 Mio. Euro usw. und mehr.", " Viel."],
        ["Ludwig XIV. war König.", " Er war es lange."],
        ["Fruta, p. ej. manzanas, del Sr. García y la Sra. López.", " Sí."],
        ["Abre a las 9 a. m. en EE. UU. y cierra.", " Bien."],
        ["M. Dupont et Mme. Durand, p. ex. hier.", " Oui."],
        ["Это т. е. Париж, т.е. город.", " Да."],
        ["Яблоки, груши и т. д.", " Всё это я.", " Он тоже."],
        ["Owoce, np. jabłka, m.in. gruszki itd.", " Dobrze."],
        ["È mio.", " Per es. questo, ecc.", " Va bene."],
        ["네.", " 그렇습니다.", " 파리입니다."],
        ["I am 3.", " You are 4.", " It is 12."],
        ["We were 12.", " Octopuses have eight arms."],
        ["My ex.", " She left."],
        ["กรุงเทพฯ เป็นเมืองหลวงของประเทศไทย", " เมืองนี้มีคนมากกว่าสิบล้านคน", " สวยมาก"],
        ["1. First", " 2. Second", " 3. Third"],
        ["1. There are 2.", " That is all."],
        ["1. Boil the water", "\n2. Add salt"],
        ["Three cities:", "\n\n- Paris", "\n- Rome", "\n* Oslo"],
        ["# Title", "\n\nText here.", " More."],
        ["1.\n\nBoil it."],
        ["It is -5\n-10 at night."],
        ["Here is code:", "\n```python\nprint('a. B')\n\nx = 1. \n```", "\nDone.", " Bye."],
        ["~~~\na. B\n```\nc. D"],
        ["```ab``` is code.", " It is."],
        ["Great! 😊", " Let me help. ✅", "\n🍎 An apple.", " Bye! 👋🏽"],
        ["No end here"],
    ],
)
def test_sentences(parts: list[str]) -> None:
    assert list(sentences("".join(parts), complete=True)) == parts


def test_an_end_counts_once_what_follows_is_known() -> None:
    assert [first_sentence(t) for t in ("It is 3.", "It is 3. ", "It is 3.1", "It is 3. Or 4")] == [
        None,
        None,
        None,
        "It is 3.",
    ]
    assert first_sentence("It is 3.", complete=True) == "It is 3."
    assert first_sentence("  ", complete=True) is None
    assert sentence_end("", complete=True) == -1


text = st.text(alphabet="abI .?!…\"'()1,eg\nU", max_size=50)
ANY = 'aIoOktbr 13..?!…"”()。」．।؟۔։;δภาษไทยๆฯ法国，、ー่\n'
blocks = st.lists(
    st.sampled_from(
        [
            "1.",
            "2.",
            " ",
            "\n",
            "\n\n",
            "```",
            "`",
            "~~~",
            "- ",
            "# ",
            "**",
            "😊",
            "foo",
            "Bar",
            ".",
            "e.g.",
            "a",
            "!",
            "。",
        ]
    ),
    max_size=14,
).map("".join)
texts = (
    blocks | text | st.text(alphabet=ANY, max_size=40) | st.text(alphabet="ภาษ法国่ ，aO3.", min_size=60, max_size=250)
)


@given(texts)
def test_sentences_join_to_the_text(whole: str) -> None:
    joined = "".join(sentences(whole, complete=True))
    assert whole.startswith(joined)
    assert not whole[len(joined) :].strip()


@given(texts, texts)
def test_an_end_found_once_stays_however_the_text_goes_on(head: str, tail: str) -> None:
    early = list(sentences(head))
    assert list(sentences(head + tail))[: len(early)] == early
    assert list(sentences(head + tail, complete=True))[: len(early)] == early


@given(blocks)
def test_the_number_of_an_item_is_no_sentence_while_text_may_follow(head: str) -> None:
    assert not any(re.fullmatch(r"\s*\d{1,3}\.\s*", one) for one in sentences(head + "\n\nfoo. Bar"))


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("The capital is Paris, and it is old.", "The capital is Paris,"),
        ("Yes, it is, as far as I know.", "Yes, it is,"),
        ("There are 1,000, or 2, 3 or 4 - of them: all.", "There are 1,000,"),
        ("I like 10, 20 and 30 of them - so far.", "I like 10, 20 and 30 of them -"),
        ("It opens at 8:15 and is well-known.", "It opens at 8:15 and is well-known."),
        ("So it goes. One, two, three, four.", "So it goes."),
        ('He said "go on," then left.', 'He said "go on,"'),
    ],
)
def test_the_first_clause(text: str, clause: str) -> None:
    assert first_clause(text, complete=True) == clause


clauses = st.text(alphabet='ab ,;:-.1"', max_size=50)


@given(clauses, clauses)
def test_a_clause_ends_once_and_no_later_than_its_sentence(head: str, tail: str) -> None:
    end, sentence = clause_end(head), sentence_end(head)
    assert end >= 0 or sentence < 0
    if end >= 0:
        assert clause_end(head + tail) == clause_end(head + tail, complete=True) == end
        assert sentence < 0 or end <= sentence
        assert end == sentence or len(head[:end].split()) >= CLAUSE_WORDS


@given(st.text(), st.sampled_from(["ascii", "latin-1", "utf-8", "cp437"]))
def test_everything_can_be_written_in_every_encoding(text: str, encoding: str) -> None:
    written = iter(text.encode(encoding, errors=ASCII).decode(encoding))
    kept = text.encode(encoding, errors="ignore").decode(encoding)
    assert all(character in written for character in kept), "what the encoding has stays, in order"


def test_marks_are_told_apart_in_ascii() -> None:
    marks = [mark.encode("ascii", errors=ASCII).decode() for mark in "✓◐✗–«»…"]
    assert marks == ["+", "~", "x", "-", "<<", ">>", "..."]
    assert "Café".encode("ascii", errors=ASCII) == b"Cafe"
    assert "日".encode("ascii", errors=ASCII) == b"?"


@given(st.text(st.sampled_from("ภาษาไทย法国的首都かな"), min_size=1, max_size=900))
def test_a_script_without_spaces_gets_sentences_also_without_any_mark(whole: str) -> None:
    found = [*sentences(whole, complete=True)]
    assert "".join(found) == whole
    assert all(len(one) <= LONGEST + 10 for one in found)
    assert all(len(one) >= LONGEST for one in found[:-1])


def test_a_long_sentence_without_spaces_is_cut_at_its_next_comma() -> None:
    head, tail = "法" * LONG + "国，", "的首都是巴黎" * 3
    assert first_sentence(head) is None
    assert first_sentence(head + tail) == head


def test_marks_of_every_script_close_a_sentence() -> None:
    assert all(map(is_marked, ["a.", "b?", "c!", "d…", "。", "？", "।", "؟", "۔", "።", "။", "។"]))
    assert not any(map(is_marked, ["", "a", "a,", "法，"]))


def test_a_comma_of_another_script_ends_a_clause() -> None:
    assert first_clause("法国的首都是巴黎，它很老。", complete=True) == "法国的首都是巴黎，"
    assert first_clause("عاصمة فرنسا هي باريس، وهي قديمة.", complete=True) == "عاصمة فرنسا هي باريس،"
