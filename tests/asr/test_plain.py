"""What is prompted of a recogniser's words: marks and the capitals after them change nothing."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.asr.agreement import Word
from predtui.asr.plain import is_caption, plain
from predtui.asr.whisperflow.engine import FlowOptions, FlowRecognizer
from predtui.state.events import Transcript
from tests.asr.whisperflow.test_engine import Done, Sound, heard

names = st.sampled_from(
    ["what", "is", "the", "capital", "of", "France", "I", "I'm", "NASA", "3.5", "$5", "20%", "o'clock"]
)
sentence = st.lists(names, min_size=1, max_size=8)
marks = st.sampled_from(["", "", "", ",", ".", "...", "?", "!", ";", "…", '."'])


def written(words: list[str], ends: list[str]) -> list[str]:
    """``words`` as Whisper may write them: each with one of ``ends``, and a capital after those that end a sentence."""
    texts, begins = [], True
    for word, mark in zip(words, ends, strict=True):
        texts.append((word[:1].upper() + word[1:] if begins else word) + mark)
        begins = mark.rstrip('"').endswith((".", "?", "!", "…"))
    return texts


@settings(max_examples=100, deadline=None)
@given(st.data(), sentence)
def test_marks_and_the_capitals_after_them_change_nothing(data: st.DataObject, words: list[str]) -> None:
    """A word that has its capital by itself loses it where a sentence begins, which the first law leaves out."""
    words = [word if word != "France" else "france" for word in words]
    one, other = (data.draw(st.lists(marks, min_size=len(words), max_size=len(words))) for _ in range(2))
    assert list(plain(written(words, one))) == list(plain(written(words, other))) == words


@settings(max_examples=50, deadline=None)
@given(sentence)
def test_what_is_plain_stays(words: list[str]) -> None:
    once = list(plain(words))
    assert list(plain(once)) == once


def test_initials_names_and_noise() -> None:
    said = [
        "-",
        "Meet",
        "me",
        "at",
        "6",
        "a.m.",
        "Monday,",
        "in",
        "the",
        "U.S.",
        "[Music]",
        "C++",
        "it's",
        "Paris?",
        "...",
    ]
    kept = ["", "meet", "me", "at", "6", "am", "Monday", "in", "the", "US", "Music", "C++", "it's", "Paris", ""]
    assert list(plain(said)) == kept


def test_captions_are_no_words() -> None:
    assert all(is_caption(plain(said.split())) for said in ("[APPLAUSE]", "AP AP", "(MUSIC) MUSIC"))
    assert not any(is_caption(plain(said.split())) for said in ("", "Music.", "NASA", "I", "play MUSIC"))


class Growing:
    """Hears one more word of ``words`` each round, with the marks of that round."""

    seconds = 30.0

    def __init__(self, words: list[str], ends: list[list[str]]) -> None:
        self._rounds = [written(words[: count + 1], ends[count][: count + 1]) for count in range(len(words))]
        self._round = -1

    def encode(self, samples, tail, pad_to=0) -> Sound:
        return Sound(samples)

    def decode_job(self, encoded, prompt, reference, beam=5, pruning="forward") -> Done:
        self._round = min(self._round + 1, len(self._rounds) - 1)
        texts = plain(self._rounds[self._round])
        return Done(heard([Word(text, 0.2 * index, 0.2 * index + 0.2) for index, text in enumerate(texts)]))


@settings(max_examples=50, deadline=None)
@given(st.data(), sentence)
def test_every_prompt_begins_the_final_one(data: st.DataObject, words: list[str]) -> None:
    """While words only come, no mark that a round writes, and the next takes back, changes a word of the prompt."""
    words = [word if word != "France" else "france" for word in words]
    each = st.lists(marks, min_size=len(words), max_size=len(words))
    model = Growing(words, [data.draw(each) for _ in words])
    recognizer = FlowRecognizer(model, FlowOptions(step=0.04), now=lambda: 0.0)
    prompts = []
    for _ in words:
        said = recognizer.feed(bytes(2 * 640), True)
        if said is not None:
            prompts.append(Transcript(stable=said.stable, tentative=said.tentative, unfinished=said.unfinished).prompt)
    final = recognizer.finish().stable
    assert final == " ".join(words)
    assert all(final.startswith(prompt) for prompt in prompts)
    assert all(later.startswith(earlier) for earlier, later in pairwise(prompts))
