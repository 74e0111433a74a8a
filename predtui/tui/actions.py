"""Everything a person can do on the main screen: one line each. Key bindings, palette, help and footer read this table.

A new action is a function that takes the app, in a file of its own feature, and one line here. Must not know what an
action does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from textual.binding import Binding, BindingsMap
from textual.dom import DOMNode

from predtui.tui.action import Action
from predtui.tui.keymap import Bound, Scope
from predtui.tui.keys import EDITING, SCROLLING, TALK

ACTIONS = (
    Action(
        "help", "f1", "Help", "every key and every number", "help", priority=True
    ),
    Action(
        "talk", TALK, "Talk", "tap to start and stop talking, or hold it down while you talk", "talk", live=True,
        priority=True, now={"quiet": "talk", "listening": "send", "replying": "talk over it"}, group="talk",
    ),
    Action("quit", "ctrl+q", "Quit", "leave predtui", "quit", priority=True),
    Action("pause", "space", "Pause", "pause, or go on", "pause", run="scrubbing:pause", in_time=True),
    Action(
        "verdict", "right", "Next verdict", "to the next verdict", "verdict", run="scrubbing:verdict", in_time=True
    ),
    Action(
        "verdict_before", "left", "Verdict before", "to the verdict before", run="scrubbing:verdict_before",
        in_time=True,
    ),
    Action(
        "turn", "greater_than_sign,shift+right", "Next turn", "to where the next turn begins; Shift+→ too", "turn",
        run="scrubbing:turn", in_time=True,
    ),
    Action(
        "turn_before", "less_than_sign,shift+left", "Turn before", "to where the turn before begins; Shift+← too",
        run="scrubbing:turn_before", in_time=True,
    ),
    Action(
        "step", "full_stop", "One event on", "one event on, and pause", "step", run="scrubbing:step", in_time=True
    ),
    Action("step_back", "comma", "One event back", "one event back", run="scrubbing:step_back", in_time=True),
    Action(
        "what_if", "equals_sign", "What if", "ask this turn again with another verifier, decoder or model, and compare",
        "what if", run="what_if:show", in_time=True,
    ),
    Action("faster", "right_square_bracket", "Faster", "faster", "faster", run="scrubbing:faster", in_time=True),
    Action("slower", "left_square_bracket", "Slower", "slower", run="scrubbing:slower", in_time=True),
    Action(
        "home", "home", "First turn", "to where the first turn begins; again, to how the stages started",
        run="scrubbing:home", in_time=True,
    ),
    Action("end", "end", "The end", "to the end", run="scrubbing:end", in_time=True),
    Action("verifier", "f3", "", "next verifier", "verifier", live=True),
    Action(
        "model", "f4", "Model",
        "models: choose one, which is kept; letters filter; Enter on one to get asks first; Del removes", "model",
        live=True, group="engines",
    ),
    Action(
        "real", "f5", "Real models", "get the real models, which hear people and talk about anything; again to cancel",
        live=True, group="engines",
    ),
    Action(
        "again", "f6", "Try again", "try stages again that have failed; the palette restarts any of them", live=True,
        now={"failed": "try again"}, group="engines",
    ),
    Action("command_palette", "ctrl+p", "", "command palette: every action by name", "palette", priority=True),
    Action(
        "explain", "question_mark", "", "in a pane: what its numbers mean", "explain", run="pages:of_focused",
        on_pane=True,
    ),
    Action(
        "copy", "y", "", "in a pane: copy its reply, question, guess or verdict, or what is selected", "copy",
        run="yank:from_pane", on_pane=True, needs="said",
    ),
    Action(
        "copy_turn", "Y", "Copy turn", "the last question with its reply", run="yank:whole_turn", on_pane=True,
        group="conversation",
    ),
    Action("copy_reply", "", "Copy reply", "the last one", run="yank:reply", group="conversation"),
    Action("copy_question", "", "Copy question", "the last one", run="yank:question", group="conversation"),
    Action("copy_verdict", "", "Copy verdict", "the last one", run="yank:verdict", group="conversation"),
    Action(
        "zoom", "z", "Zoom or maximise", "in a pane: it alone; again, or Esc: all panes", "zoom", run="rooms:zoom",
        on_pane=True,
    ),
    Action(
        "drafters", "D", "Drafters", "in a pane: how each drafter fares, and what auto thinks of it",
        run="drafters:show", on_pane=True, group="engines",
    ),
    Action(
        "find", "slash", "", "in a pane: find words; then n and N go to the next and the one before", "find",
        run="widgets.find:find", on_pane=True,
    ),
    Action("find_next", "n", "", "in a pane: the next place found", run="widgets.find:forward", on_pane=True),
    Action("find_before", "N", "", "in a pane: the place before", run="widgets.find:backward", on_pane=True),
    Action("hide", "x", "", "in a pane: hide it", "hide", run="rooms:hide", on_pane=True),
    Action(
        "show_all", "X", "Show all panes", "in a pane: show all, as at first", run="rooms:show_all", on_pane=True
    ),
    Action(
        "figures", "F", "Figures", "in a pane: NFE and RTF, or plain words alone; WORDS explains them", "figures",
        run="rooms:figures", on_pane=True,
    ),
    Action(
        "taller", "ctrl+down,alt+down", "", "in a pane: taller; or drag a border", run="rooms:taller", on_pane=True
    ),
    Action("shorter", "ctrl+up,alt+up", "", "in a pane: shorter", run="rooms:shorter", on_pane=True),
    Action("wider", "ctrl+right,alt+right", "", "in a pane: wider", run="rooms:wider", on_pane=True),
    Action("narrower", "ctrl+left,alt+left", "", "in a pane: narrower", run="rooms:narrower", on_pane=True),
    Action(
        "panes", "ctrl+l", "Next choice of panes",
        "all panes, with figures (lab), for an audience (demo), the conversation (chat)",
        run="rooms:next_preset", group="panes",
    ),
    Action(
        "silence", "escape", "Silence", "silence the reply; close a page; dismiss a notice", live=True,
        now={"back": "now", "listening": "drop", "replying": "silence"}, group="talk",
    ),
    Action(
        "sessions", "f7", "Sessions", "earlier conversations: letters search; Enter goes on with one; Del deletes",
        "sessions", run="sessions:show", live=True, group="conversation",
    ),
    Action(
        "look_back", "f8", "Look back", "look back at this session's last turns; again, Esc or typing: back to now",
        "back", run="scrubbing:look_back", live=True, needs="said", group="conversation",
    ),
    Action(
        "tour", "", "Tour", "twenty seconds: one guided turn, and what it saved", run="tour:begin", live=True,
        group="talk",
    ),
    Action(
        "sound", "S", "Sound check", "in a pane: can you hear predtui, and does it hear you?", run="sound:show",
        live=True, on_pane=True, group="talk",
    ),
    Action(
        "begin", "", "New conversation", "begin anew; this one stays kept", run="sessions:begin", live=True,
        group="conversation",
    ),
    Action(
        "search", "ctrl+r", "Earlier prompts", "search what you asked before", run="sessions:search", live=True,
        group="conversation",
    ),
    Action(
        "settings", "f9", "Settings", "every setting: letters search; Enter changes one, which is kept once it works",
        "settings", run="tuning:show",
    ),
    Action(
        "save", "ctrl+s", "Save as Markdown", "the conversation, in the folder you are in", run="saving:markdown",
        group="conversation",
    ),
    Action(
        "save_json", "", "Save as JSON", "the conversation, in the folder you are in", run="saving:as_json",
        group="conversation",
    ),
    Action(
        "screenshot", "", "Screenshot", "the screen as a picture (SVG), in the folder you are in",
        run="saving:screenshot",
    ),
    Action("keys", "", "Keys", "beside the panes: the keys that act where one is; again: away", run="pages:keys"),
    Action(
        "editor", "ctrl+g", "Edit in your editor", "edit what is typed in $VISUAL or $EDITOR, and come back with it",
        run="editor:act", live=True, group="conversation",
    ),
    Action("next_theme", "ctrl+t", "", "next theme; the choice is kept", "theme", priority=True),
    Action(
        "suspend", "ctrl+z", "", "back to the shell; fg brings the app back as it was", run="job_control:suspend",
        priority=True,
    ),
)  # fmt: skip
"""In the order of the help, and of the footer, which has those of the moment first, and shows as many as fit."""
LINE = (
    Action("submit", "enter", "", "end the turn", on_line=True, now={"written": "send"}),
    Action("accept_word", "tab", "", "take over a word", on_line=True, now={"foreseen": "take a word"}),
)
"""Of the keys of the input line, those that the footer has."""


_chosen: dict[str, str] = {}


def use(keys: Mapping[str, str]) -> None:
    """The keys, with commas, of what is to have others than at first. From now on, for each widget that is made in this
    process, which has one person and one keyboard."""
    _chosen.clear()
    for name, chosen in keys.items():
        _chosen[name] = chosen
    actions.cache_clear()


def keys_of(name: str, usual: str) -> str:
    """The keys of what ``name`` stands for: those chosen, else the ``usual`` ones."""
    return _chosen.get(name, usual)


@cache
def actions() -> tuple[Action, ...]:
    """All of them, with the keys that they have."""
    return tuple(replace(action, keys=keys_of(action.name, action.keys)) for action in ACTIONS)


def footer() -> tuple[Action, ...]:
    """All that the footer may have."""
    return (*(replace(action, keys=keys_of(action.name, action.keys)) for action in LINE), *actions())


def action_named(name: str) -> Action:
    """Raises KeyError where there is none."""
    return {action.name: action for action in actions()}[name]


def key_of(name: str) -> str:
    """The first key of an action, as written on it; where it has none, the palette has it. Raises KeyError."""
    return action_named(name).spelled() or action_named("command_palette").spelled()


def bindings(on_pane: bool) -> list[Binding]:
    """Those of the app, or those of each pane."""
    return [binding for action in actions() if action.on_pane == on_pane for binding in action.bindings]


def scrolling() -> list[Binding]:
    """Those of a pane that scrolls."""
    return [_hidden(keys_of(name, keys), action, name) for name, keys, action in SCROLLING if keys_of(name, keys)]


def editing() -> list[Binding]:
    """Those of the input line."""
    chosen = [(keys_of(_edit(action), keys), action) for keys, action in EDITING]
    return [_hidden(keys, action, action.replace("(True)", ", select")) for keys, action in chosen if keys]


def bind(node: DOMNode, made: Iterable[Binding], without: str = "") -> None:
    """Gives ``node`` these keys over those of its class, of which it loses ``without``."""
    node._bindings.key_to_bindings.pop(without, None)
    node._bindings = BindingsMap.merge([node._bindings, BindingsMap(made)])


def _hidden(keys: str, action: str, name: str) -> Binding:
    return Binding(keys, action, name.replace("_", " "), show=False)


def bound() -> list[Bound]:
    """Everything that keys do, by name, with its keys at first."""
    return [
        *(Bound(action.name, action.keys, _scope(action), action.priority) for action in ACTIONS),
        *(Bound(_edit(action), keys, "input") for keys, action in EDITING if "(" not in action),
        *(Bound(name, keys, "pane") for name, keys, _ in SCROLLING),
    ]


def named_keys(scope: Scope) -> list[tuple[str, str]]:
    """What keys do there, by name, and the keys that they have."""
    return [(one.name, keys_of(one.name, one.keys)) for one in bound() if one.scope == scope]


def _edit(action: str) -> str:
    """What the input line does, by another name than an action of the app."""
    return f"line_{action}" if any(action == one.name for one in ACTIONS) else action


def _scope(action: Action) -> Scope:
    return "pane" if action.on_pane else "time" if action.in_time else "app"


def keys_in_time() -> frozenset[str]:
    """Those that go to and fro in time, where one can."""
    return frozenset(key.key for action in actions() if action.in_time for key in action.bindings)
