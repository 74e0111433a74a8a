"""The reply being guessed: what was kept, what is new, what was rejected. Knows nothing of how it is verified."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content

from predtui.state.events import Decoding, Thought
from predtui.state.turn import Foreseen, Turn
from predtui.tui import figures
from predtui.tui.ahead import Ahead, best
from predtui.tui.gate import assemble
from predtui.tui.tree import tree
from predtui.tui.widgets.scrolled import ScrolledPane
from predtui.tui.wrapping import wrapped
from predtui.words import begins_word, last_word


class Guess(NamedTuple):
    """A candidate as drawn."""

    revision: int
    tokens: int
    kept: str
    new: str
    rejected: str
    drafts: Decoding | None
    continuations: int
    """Prompts answered before they were said."""
    ahead: tuple[Ahead, ...] = ()
    foreseen: Foreseen | None = None
    thought: Thought = Thought()


class CandidatePane(ScrolledPane[Guess]):
    """Kept words are bold, new ones underlined, rejected ones struck through; each part has its mark."""

    TOPIC = "candidate"
    FROM_END = False
    MEANINGS = (
        ("✓ bold", "kept: this part of the guess still holds for the newest partial prompt"),
        ("+ underlined", "new: generated since the last verification"),
        ("✗ struck through", "rejected: the last verification threw this part out"),
        ("rev", "revision: the partial prompt this guess answers, counted from 1 in each turn"),
        ("ahead", "continuations: ways your sentence might end, answered before you get there"),
        ("… → reply", "if you go on so, this is the reply; ⏎ →: if you stop here. Tab takes over the words"),
        ("✓ verified", "the reply was verified for just these words, and is held"),
        ("♪ 5 chunks, ♪ synthesised", "so much of its sound is made; the whole of it"),
        (
            "came true, saved",
            "you did say that: milliseconds spent before, and not now; measured (NFE: with {figures})",
        ),
        ("tokens", "length of the guess in the model's tokens"),
        ("thinking, thought", "what the model thinks before it answers, and how long: it is never spoken"),
        ("n/m drafted", "tokens accepted / tokens proposed in the last draft, if the decoder drafts"),
        ("duo: ✓ … → …", "the last draft: its source, what the model accepted of it, and → its own choice behind that"),
        ("└ ✗", "a branch of the draft that fell, below where it left the reply; (source) where another made it"),
        ("%, /forward", "share of all drafted tokens accepted; tokens gained per forward pass of the model"),
    )
    ROOM = """
        CandidatePane { height: 1fr; }
        .-tall CandidatePane { max-height: 8; }
        .-towering CandidatePane { max-height: 11; }
        .-narrow CandidatePane { height: 4; }
        .-narrow.-short CandidatePane, .-narrow.-tall CandidatePane { height: 5; }
        .-narrow.-towering CandidatePane { height: 6; }
    """

    def read(self, turn: Turn) -> Guess:
        candidate = turn.candidate
        parts = (candidate.kept, candidate.new, candidate.rejected)
        answered = candidate.tokens - candidate.thought.tokens
        ahead = len(turn.continuations)
        future = (best(turn), turn.foreseen)
        return Guess(candidate.revision, answered, *parts, turn.decoding, ahead, *future, candidate.thought)

    def heading(self, values: Guess) -> tuple[str | tuple[str, str], ...]:
        if not values.revision:
            return ()
        if values.foreseen:
            return (f" · rev {values.revision} · ", (_saved(values.foreseen), "$success"))
        return (f" · rev {values.revision}", *([f" · {values.continuations} ahead"] if values.continuations else []))

    def draw(self, values: Guess, width: int, height: int) -> list[Content]:
        if not values.revision:
            hint = assemble(("no guess yet: guessing starts with your first words", ".dim"))
            return self.in_view(hint.wrap(width), width, height)
        foot = _foot(values, width, height) if height >= 4 else []
        room = height - len(foot) - (height >= 6 or values.drafts is None) if foot else height
        head = _thought(values, width, room) if values.thought.tokens else []
        parts = _parts(values)
        lines = [*head, *(wrapped(assemble(*parts), width) if parts else [])]
        if len(lines) <= room:
            left = height - len(foot) - len(lines)
            future = _future(values, width, left, self.figured)
            drafted = tree(values.drafts, width) if values.drafts else []
            lines += [*drafted[: max(left // 2, left - len(future))], *future][:left]
        apart = max(0, height - len(foot) - max(room, len(lines))) if foot else 0
        lines += [assemble()] * (height - len(foot) - apart - len(lines)) if foot else []
        return self.in_view(lines, width, height, below=[*[assemble()] * apart, *foot])

    def action_newest(self) -> None:
        """What was generated last."""
        self._put(len(self._all))
        self.refresh_lines()


def _saved(foreseen: Foreseen) -> str:
    """In the title, at the moment in which something came true."""
    return "came true" if foreseen.ms is None else f"saved {figures.milliseconds(foreseen.ms)}"


def _future(values: Guess, width: int, room: int, figured: bool) -> list[Content]:
    """What came true, and how the input may go on, in the lines that the guess itself leaves."""
    came = [_came_true(values.foreseen, width, figured)] if values.foreseen else []
    return [*came, *(_way(ahead, width) for ahead in values.ahead)][: max(0, room)]


def _came_true(foreseen: Foreseen, width: int, figured: bool) -> Content:
    nfe = f" · saved {foreseen.forwards} NFE" if figured and foreseen.forwards is not None and width >= 36 else ""
    words = figures.tail(foreseen.prompt, width - len(f"✓ came true: {nfe}"))
    return assemble(("✓ ", ".good"), ("came true: ", ".dim"), words, (nfe, ".good"))


def _way(ahead: Ahead, width: int) -> Content:
    """One way to go on, its reply, and how far that is."""
    state = _state(ahead, width >= 50)
    head = f"… {figures.shorten(ahead.words, max(6, width // 3))}" if ahead.words else "⏎"
    reply = figures.shorten(ahead.sentence, max(0, width - len(f"{head} →  {state}")))
    return figures.spread(assemble((f"{head} → ", ".tentative"), reply), assemble((state, ".dim")), width)


def _state(ahead: Ahead, long: bool) -> str:
    if ahead.whole:
        return "♪ synthesised" if long else "♪"
    if ahead.chunks:
        return f"♪ {ahead.chunks} chunk{'s' * (ahead.chunks != 1)} ready" if long else f"♪ {ahead.chunks}"
    return "✓ verified" if long else "✓"


def _thought(values: Guess, width: int, room: int) -> list[Content]:
    """The last words of what the model thinks: on a line beside the answer, or below one while there is none."""
    thought, text = values.thought, " ".join(values.thought.text.split())
    name = "thought" if values.tokens else "thinking"
    took = f"{thought.tokens} tokens · {thought.ms / 1000:.1f} s"
    below = room - 1 if not values.tokens and room > 2 else 0
    words = "" if below else figures.tail(text, width - len(f"{name}   {took}"))
    head = figures.spread(assemble((f"{name} ", ".tentative"), (words, ".dim")), assemble((took, ".dim")), width)
    rest = figures.tail(text, width * below - width // 2) if below else ""
    return [head, *(assemble((rest, ".dim")).wrap(width)[:below] if rest else [])]


def _foot(values: Guess, width: int, height: int) -> list[Content]:
    """How the decoder's drafts do, if it drafts, and the legend, if there is room for both."""
    if values.drafts is None:
        return [_legend(values.tokens, width)]
    return [_drafts(values.drafts), _legend(values.tokens, width)] if height >= 6 else [_drafts(values.drafts)]


def _drafts(drafts: Decoding) -> Content:
    if drafts.note:
        return assemble((f"{drafts.decoder}: ", ".dim"), (drafts.note, ".fair"))
    last = f"{drafts.accepted}/{drafts.proposed}"
    rates = f" drafted, {drafts.acceptance_rate:.0%} · {drafts.tokens_per_forward:.1f}/forward"
    return assemble((f"{drafts.decoder}: ", ".dim"), (last, ".strong"), (rates, ".dim"))


def _legend(tokens: int, width: int) -> Content:
    marks = (
        ("✓ ", ".dim"),
        ("kept", ".kept"),
        ("   + ", ".dim"),
        ("new", ".new"),
        ("   ✗ ", ".dim"),
        ("rejected", ".rejected"),
    )
    return figures.spread(assemble(*marks), assemble((f"{tokens} tokens", ".dim")), width)


Part = str | tuple[str, str]


def _parts(values: Guess) -> list[Part]:
    """Each part behind its mark. One that begins within a word has its mark before all of that word, and its letters
    alone have its style; one that begins with the punctuation behind a word has its mark behind that."""
    kept, new, rejected = values.kept, values.new, values.rejected
    begun = kept[_divided(kept, new) :]
    tail = _punctuation(begun, new)
    if tail:
        begun = ""
    fell = kept[_divided(kept, rejected) :]
    return [
        *_marked("", "✓", (kept[: len(kept) - len(begun)], ".kept"), (new[:tail], ".new")),
        *_marked(" " if kept.removesuffix(begun).strip() else "", "+", (begun, ".kept"), (new[tail:], ".new")),
        *_marked(
            " " if (kept + new).strip() else "",
            "✗",
            (fell if rejected.strip() else "", ".dim"),
            (rejected, ".rejected"),
        ),
    ]


def _divided(before: str, after: str) -> int:
    """Where in ``before`` the word begins that goes on in ``after``; at its end where none does."""
    whole = not before or not after or before[-1].isspace() or after[0].isspace()
    return len(before) if whole or begins_word(before + after, len(before)) else last_word(before)


def _punctuation(begun: str, after: str) -> int:
    """How many characters of ``after`` end the word ``begun`` before it, where no letter is among them."""
    ends = (at for at in range(1, len(after)) if after[at].isspace() or begins_word(after, at))
    head = next(ends, len(after)) if begun else 0
    return 0 if any(map(str.isalnum, after[:head])) else head


def _marked(before: str, mark: str, *pieces: tuple[str, str]) -> list[Part]:
    """The words of ``pieces``, which belong together, behind the mark; nothing where there are none."""
    said = [(" ".join(text.split()), style) for text, style in pieces]
    parts: list[Part] = [(text, style) for text, style in said if text]
    return [before, (f"{mark} ", ".dim"), *parts] if parts else []
