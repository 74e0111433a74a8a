"""How people ask who invented a thing, and when.

Slots: ``thing`` (with its article), ``the_thing`` ("the telephone", as one speaks of an invention), ``name`` (bare).
Knows nothing of the answers.
"""

from __future__ import annotations

from predtui.training.corpus.types import Phrases

_FOLLOWUP = (
    "and <the_thing>",
    "{what|how} about <the_thing>",
    "and of <the_thing>",
    "and for <the_thing>",
    "same question for <the_thing>",
)

WHO = Phrases(
    noun=(
        "the inventor of <the_thing>",
        "the {person|man} {behind|who invented} <the_thing>",
        "the name of the inventor of <the_thing>",
        "the {name of the one|person} who came up with <the_thing>",
        "the creator of <the_thing>",
    ),
    question=(
        "who invented <the_thing>",
        "who was the inventor of <the_thing>",
        "who {made|built|created} the first <name>",
        "who came up with <the_thing>",
        "who was it that invented <the_thing>",
        "who do we {thank|have to thank} for <the_thing>",
        "whose {invention|idea} {is|was} <the_thing>",
        "<the_thing> was invented by {who|whom}",
        "by whom was <the_thing> invented",
        "<the_thing>, who invented it",
        "<the_thing>, whose idea was that",
        "<name> inventor",
        "inventor <name>",
        "<name> invented by",
        "which inventor gave us <the_thing>",
        "who thought of <the_thing> first",
        "who is {known|famous} for inventing <the_thing>",
        "who is behind the invention of <the_thing>",
        "I forgot who invented <the_thing>, can you help",
        "I forgot the inventor of <the_thing>",
        "help me, who invented <the_thing>",
        "I forgot who invented <the_thing>",
        "to whom do we owe <the_thing>",
    ),
    clause=(
        "who invented <the_thing>",
        "who made the first <name>",
        "who came up with <the_thing>",
        "whose invention <the_thing> is",
        "by whom <the_thing> was invented",
    ),
    command=("name the inventor of <the_thing>", "look up who invented <the_thing>"),
    followup=(*_FOLLOWUP, "and who invented <the_thing>"),
)

WHEN = Phrases(
    noun=(
        "the {year|date} <the_thing> was invented",
        "the year of the invention of <the_thing>",
        "the {year|date|time} when <the_thing> was invented",
        "the invention date of <the_thing>",
        "the birth year of <the_thing>",
    ),
    question=(
        "when was <the_thing> invented",
        "when did {people|someone|they} invent <the_thing>",
        "when was the first <name> {made|built}",
        "{what|which} year was <the_thing> invented",
        "in {what|which} year was <the_thing> invented",
        "<the_thing> was invented when",
        "<the_thing> was invented in what year",
        "<the_thing>, when was it invented",
        "<the_thing>, what year did it come out",
        "since when do we have <the_thing>",
        "how long ago was <the_thing> invented",
        "how old is the invention of <the_thing>",
        "how long have people had <the_thing>",
        "when did the first <name> {appear|come along}",
        "when did the <name> first appear",
        "when did <the_thing> come along",
        "when was the invention of <the_thing>",
        "<name> invention {year|date}",
        "<name> invented when",
        "what was the year when <the_thing> was invented",
        "when was <the_thing> new",
        "at what time in history was <the_thing> invented",
    ),
    clause=(
        "when <the_thing> was invented",
        "in which year <the_thing> was invented",
        "when the first <name> was made",
        "how old the invention of <the_thing> is",
    ),
    command=("name the year <the_thing> was invented", "look up when <the_thing> was invented"),
    followup=(*_FOLLOWUP, "and when was <the_thing> invented"),
)
