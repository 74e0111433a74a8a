"""Every message of the screen, as dataclasses. Only these cross from threads to the screen, and between widgets.

Knows nothing of widgets or of how the messages are answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.events import Key
from textual.message import Message

from predtui.models.fetch import Progress
from predtui.runtime.typing import Typed
from predtui.state.events import StageStatus, Verdict
from predtui.state.turn import Turn

if TYPE_CHECKING:
    from predtui.audio.found import Told
    from predtui.models.download import Progress as Arrived
    from predtui.models.pull import Offer, Pull
    from predtui.state.exchange import Exchange
    from predtui.state.kept.store import Session
    from predtui.tui.offers import Offered
    from predtui.tui.shelf import Choice


@dataclass(eq=False)
class TurnChanged(Message):
    """The latest state of the turn. A newer one takes the place of those still waiting."""

    turn: Turn

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, TurnChanged)


class DriverStarted(Message):
    """The driver's ``start`` has returned: it takes requests."""


@dataclass(eq=False)
class VerdictChosen(Message):
    """Somebody wants to see what was guessed at that verdict."""

    verdict: Verdict


@dataclass(eq=False)
class SoundTold(Message):
    """What the sound check tells; None: it is over."""

    told: Told | None


class TimeMoved(Message):
    """What is shown is of another time than before."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, TimeMoved)


@dataclass(eq=False)
class StageTold(Message):
    """The next status of a stage; none takes the place of another."""

    status: StageStatus


@dataclass(eq=False)
class KeysTyped(Message):
    """Characters that waited together, in order: keys that came faster than the app takes them."""

    keys: Sequence[Key]


@dataclass(eq=False)
class LineTyped(Message):
    """The input line as it stands after a key."""

    typed: Typed


@dataclass(eq=False)
class TalkHeld(Message):
    """The talk button was pressed (True) or released (False)."""

    on: bool


class ReleasesTold(Message):
    """The terminal tells from now on when a key is let go."""


@dataclass(eq=False)
class GroundTold(Message):
    """The terminal tells that its background is light, or dark."""

    light: bool


@dataclass(eq=False)
class NoticeRaised(Message):
    """A line for the notice strip: what happened, and what to do."""

    text: str
    severity: str = "information"


@dataclass(eq=False)
class FetchProgressed(Message):
    """How far the download of the real models is. A newer one takes the place of those still waiting."""

    progress: Progress

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, FetchProgressed)


@dataclass(eq=False)
class FetchEnded(Message):
    """The real models are installed, or the download was cancelled, or it failed with ``problem``."""

    installed: bool
    problem: str = ""


@dataclass(eq=False)
class ModelsFound(Message):
    """The language models of this machine, and what there is to get."""

    choices: Sequence[Choice]


@dataclass(eq=False)
class OfferMade(Message):
    """What fetching the model that was asked for costs, or the ``problem`` with it."""

    asked: str
    offered: tuple[Offer, Pull] | None
    problem: str = ""


@dataclass(eq=False)
class PullProgressed(Message):
    """How far the download of a model is. A newer one takes the place of those still waiting."""

    progress: Arrived

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, PullProgressed)


@dataclass(eq=False)
class PullEnded(Message):
    """A model is here, ``whole``, or its download was cancelled, or it failed with ``problem``."""

    whole: bool
    problem: str = ""


@dataclass(eq=False)
class SessionsFound(Message):
    """The conversations that are kept in which ``wanted`` was said, the one used last first."""

    wanted: str
    sessions: Sequence[Session]


@dataclass(eq=False)
class SessionLoaded(Message):
    """A conversation that is kept, to be gone on with."""

    number: int
    exchanges: tuple[Exchange, ...]


@dataclass(eq=False)
class SessionsTold(Message):
    """A line on what was done with a conversation that is kept, or could not be done."""

    text: str


@dataclass(eq=False)
class ValuesFound(Message):
    """What a setting may be, or the ``problem`` with finding that out."""

    values: Sequence[Offered]
    problem: str = ""


@dataclass(eq=False)
class AskedAgain(Message):
    """How far a turn is that is asked again, or, once it is ``over``, what it is then and what differs; without a
    ``turn``, ``line`` is the problem."""

    line: str
    turn: Turn | None = None
    findings: tuple[str, ...] = ()
    over: bool = False


class RealModelsInstalled(Message):
    """The real models have just been installed."""
