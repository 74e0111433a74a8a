"""The synthesiser of those who read."""

from hypothesis import given
from hypothesis import strategies as st

from predtui.settings import TtsSettings
from predtui.tts.mute import create


@given(st.text())
def test_it_says_nothing_and_goes_on_with_nothing(text: str) -> None:
    mute = create(TtsSettings(engine="none"))
    speech = mute.synthesize(text)
    state = speech.save()
    assert state.nbytes == 0
    assert [*speech, *mute.synthesize(text, state), *mute.synthesize(text, after=state)] == []
    mute.close()
