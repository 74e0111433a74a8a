"""What a setting may be, as a person chooses it: the ideas of a registry, devices, voices, themes, models. Looks where
they are; must not know how they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from predtui.audio.devices import NO_DEVICE, Kind, listing
from predtui.models.curated import proposals
from predtui.models.places import pulled
from predtui.models.published import TINY_EN, find
from predtui.models.shipped import MODELS, POCKET
from predtui.registry import SYNTHESISERS, Registry
from predtui.settings import AUTO, Option, Settings
from predtui.tui.actions import key_of
from predtui.tui.dials import shown


class Offered(NamedTuple):
    """A value, as text; what it is; and whether it may change the reply."""

    value: str
    hint: str = ""
    lossy: bool = False


def offered(item: Option, settings: Settings, themes: Iterable[str] = ()) -> list[Offered]:
    """What ``item`` may be, beside anything that its bounds allow. May look at files and ask the sound system: for a
    thread. Raises PredtuiError, with what to do, where what is looked at is not there."""
    if item.key == "ui.theme":
        return [Offered(AUTO, "what suits the terminal's background"), *map(Offered, themes)]
    if item.key in _FOUND:
        return list(_FOUND[item.key](settings))
    return list(_fixed(item))


def lossy(item: Option, value: object) -> bool:
    """Whether the idea that ``value`` names may change a greedy reply, or the distribution of others."""
    entries = item.ideas.values() if item.ideas else ()
    return any(entry.alters for entry in entries if entry.number(str(value)) is not None)


def _fixed(item: Option) -> Iterator[Offered]:
    if item.kind is bool:
        yield from (Offered("on"), Offered("off"))
    ideas = item.ideas or Registry("")
    for name in item.choices:
        if name in ideas:
            yield Offered(ideas[name].choice, ideas[name].help, ideas[name].alters)
        elif name != "N":
            yield Offered(name)
    if item.kind in (int, float):
        yield Offered(shown(item.default), "the default")


def _devices(kind: Kind) -> Callable[[Settings], Iterator[Offered]]:
    def found(settings: Settings) -> Iterator[Offered]:
        yield Offered("", "the system's default")
        yield Offered(NO_DEVICE, "switched off")
        yield from map(Offered, dict.fromkeys(listing()[kind]))

    return found


def _voices(settings: Settings) -> Iterator[Offered]:
    voices = SYNTHESISERS.voices(settings.tts.engine)
    yield from map(Offered, voices(settings.tts) if voices else ())


def _speakers(settings: Settings) -> Iterator[Offered]:
    from predtui.tts.zonos import speakers

    yield Offered("", "the model's own")
    yield from map(Offered, speakers.names())


def _whispers(settings: Settings) -> Iterator[Offered]:
    yield Offered(AUTO, "the best that is here")
    yield Offered(POCKET, "ships with predtui")
    yield Offered(TINY_EN.name, "installed" if find(TINY_EN) else f"{key_of('real')} gets it")
    yield from _proposed("asr")


def _speech_models(settings: Settings) -> Iterator[Offered]:
    yield Offered("", "the usual one")
    yield from _proposed("tts", settings.tts.engine)


def _drafts(settings: Settings) -> Iterator[Offered]:
    yield from map(Offered, MODELS)


def _proposed(kind: str, engine: str = "") -> Iterator[Offered]:
    for one in proposals().values():
        if one.kind == kind and engine in ("", one.engine):
            yield Offered(
                one.name, "here" if pulled(one.name) else f"{one.megabytes} MB: predtui models pull {one.name}"
            )


_FOUND: dict[str, Callable[[Settings], Iterator[Offered]]] = {
    "audio.input": _devices("input"),
    "audio.output": _devices("output"),
    "tts.voice": _voices,
    "tts.speaker": _speakers,
    "tts.model": _speech_models,
    "asr.model": _whispers,
    "llm.draft": _drafts,
}
"""Where to look for what a setting may be, by its key."""
