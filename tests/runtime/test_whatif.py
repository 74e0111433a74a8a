"""A recorded turn asked again by the real pipeline; what was chosen then is chosen now, unless something else is."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from predtui.errors import PredtuiError
from predtui.runtime.whatif import GivenUpError, as_recorded, ask_again
from predtui.settings import LlmSettings, Settings, TtsSettings
from predtui.state import events as ev
from predtui.state.asked import Asked, asked
from predtui.state.turn import Turn
from tests.tui.scenes import fold

QUESTION = "what is the capital of france"
POCKET = Settings(llm=LlmSettings(model="pocket"), tts=TtsSettings(engine="none"))
ASKED = asked(
    [
        ev.TurnStarted(turn=4, time=1.0, history=(ev.Message("user", "hello"), ev.Message("assistant", "Hello."))),
        *(
            ev.Transcript(turn=4, revision=end, time=1.0 + end / 100, stable=QUESTION[:end].strip(), unfinished=False)
            for end in range(5, len(QUESTION), 5)
        ),
        ev.Transcript(turn=4, revision=99, time=1.5, stable=QUESTION, unfinished=False, final=True),
    ]
)


def test_the_same_is_asked_with_the_same_before_it() -> None:
    told: list[str] = []
    turn = ask_again(ASKED, POCKET, told.append)
    assert turn.prompt == QUESTION
    assert turn.history[:2] == ASKED.turn.request
    assert "Paris" in turn.reply_text
    assert turn.reply
    assert turn.baseline is None, "nothing else is measured"
    assert told[0] == "starting"
    assert len(told) == 3


def test_nobody_need_wait_for_it() -> None:
    stopped = threading.Event()

    def tell(line: str) -> None:
        if line.startswith("asking"):
            stopped.set()

    with pytest.raises(GivenUpError):
        ask_again(ASKED, POCKET, tell, stopped)


def test_a_model_that_is_not_there_is_told_of() -> None:
    nowhere = replace(POCKET, llm=replace(POCKET.llm, model="/nowhere.gguf"))
    with pytest.raises(PredtuiError, match=r"llm cannot be opened: .*nowhere"):
        ask_again(ASKED, nowhere, print)


def test_what_is_not_given_is_as_it_was_recorded() -> None:
    recorded = fold(
        [
            ev.StageStatus(stage="llm", state="ready", message="pocket-cllm · 7.6M"),
            ev.TurnStarted(turn=1),
            ev.Verdict(turn=1, verifier="reflection", lossless=False),
            ev.Decoding(turn=1, decoder="jacobi"),
        ]
    )
    settings = Settings(llm=LlmSettings(model="mine.gguf", verifier="top3", decoder="duo"))

    def chosen(turn: Turn, *given: str) -> tuple[str, str, str]:
        llm = as_recorded(turn, settings, given).llm
        return llm.model, llm.verifier, llm.decoder

    assert chosen(recorded) == ("pocket-cllm", "reflection", "jacobi")
    assert chosen(recorded, "llm.verifier") == ("pocket-cllm", "top3", "jacobi")
    assert chosen(recorded, "llm.model", "llm.decoder") == ("mine.gguf", "reflection", "duo")
    assert chosen(Turn()) == ("mine.gguf", "top3", "ar"), "what is not told stays as it is set"


def test_nothing_typed_takes_no_time() -> None:
    assert Asked(Turn()).seconds == 0.0
