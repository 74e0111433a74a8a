"""How people ask what everyday things are: the phrases of ``intents.things`` that fit every thing.

Slots: ``thing`` (with its article, as in a sentence), ``name`` (bare). Knows nothing of the answers.
"""

from __future__ import annotations

from predtui.training.corpus.types import Phrases

WHAT = Phrases(
    noun=(
        "the {meaning|definition} of <name>",
        "the meaning of the word <name>",
    ),
    question=(
        "what is <thing>",
        "what's <thing>",
        "what's <thing> exactly",
        "what's <thing> like",
        "what's meant by <thing>",
        "what exactly is <thing>",
        "<thing>, what is that",
        "<thing> is what",
        "what do you know about <thing>",
        "what can you tell me about <thing>",
        "what does {the word <name>|<name>} mean",
        "how would you {describe|explain|define} <thing>",
        "how do you explain <thing> to a child",
        "what sort of thing is <thing>",
        "what is so special about <thing>",
        "have you ever heard of <thing>",
        "<name> definition",
        "<name> meaning",
        "<name> explained",
        "define <name>",
        "facts about <name>",
        "I don't know what <thing> is, do you",
        "my {son|daughter|kid|child} asks what <thing> is",
        "I keep hearing about <thing>, what is it",
        "if someone says <name>, what do they mean",
        "what should I know about <thing>",
        "what is the thing called <name>",
        "what on earth is <thing>",
    ),
    clause=(
        "what <thing> is",
        "what exactly <thing> is",
        "what {the word <name>|<name>} means",
        "what is meant by <thing>",
        "what sort of thing <thing> is",
    ),
    command=(
        "tell me about <thing>",
        "tell me {something|a bit|more} about <thing>",
        "explain <thing> [to me]",
        "explain what <thing> is",
        "describe <thing> [for me]",
        "define <thing>",
        "give me {a fact about|some facts about|a short definition of} <thing>",
        "teach me about <thing>",
        "say something about <thing>",
    ),
    followup=(
        "and <thing>",
        "{what|how} about <thing>",
        "and what is <thing>",
        "and tell me about <thing>",
        "now <thing>",
        "same for <thing>",
    ),
)
