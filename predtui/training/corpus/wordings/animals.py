"""How people ask about animals: what they eat, where they live, their sounds and their young.

Slots: ``thing`` ("an owl"), ``name`` ("owl"), ``things`` ("owls"). Knows nothing of the answers.
"""

from __future__ import annotations

from predtui.training.corpus.types import Phrases

_FOLLOWUP = (
    "and <thing>",
    "and <things>",
    "{what|how} about <thing>",
    "{what|how} about <things>",
    "and for <thing>",
    "same question for <things>",
)

EATS = Phrases(
    noun=(
        "the {diet|food} of <thing>",
        "the diet of <things>",
        "the favorite food of <things>",
        "the food that <things> {eat|live on}",
        "the usual food of <thing>",
    ),
    question=(
        "what do <things> eat",
        "what does <thing> eat",
        "<things> eat what",
        "what do <things> {feed|live} on",
        "what does <thing> {feed|live} on",
        "what kind of food {do <things> eat|does <thing> eat}",
        "what would <thing> {eat|have} for {dinner|lunch|breakfast}",
        "what is <thing> fed with",
        "what {should|can|do} I feed <thing>",
        "how do <things> feed themselves",
        "<thing>, what does it eat",
        "<things>, what do they eat",
        "<name> diet",
        "<name> food",
        "what <things> eat",
        "are <things> meat eaters or what do they eat",
        "when <thing> is hungry, what does it eat",
        "what is on the menu of <thing>",
        "if I had <thing>, what would I {feed it|give it to eat}",
        "what makes up the meals of <thing>",
    ),
    clause=(
        "what <things> eat",
        "what <thing> eats",
        "what <things> {feed|live} on",
        "what kind of food <things> like",
    ),
    command=("tell me what <things> eat", "explain what <thing> eats", "describe the diet of <thing>"),
    followup=(*_FOLLOWUP, "and what do <things> eat"),
)

HOME = Phrases(
    noun=(
        "the home of <thing>",
        "the habitat of <things>",
        "the natural habitat of <thing>",
        "the place where <things> live",
        "the usual home of <things>",
    ),
    question=(
        "where do <things> live",
        "where does <thing> live",
        "<things> live where",
        "where {can|do} {I|you|we} find <things>",
        "where are <things> found",
        "where in the world do <things> live",
        "where does <thing> make its home",
        "in what kind of place does <thing> live",
        "what kind of {place|habitat} do <things> live in",
        "<thing>, where does it live",
        "<things>, where do they live",
        "<name> habitat",
        "<name> home",
        "where <things> live",
        "where would I {go|look} to see <thing>",
        "where can I see <things> in nature",
        "if I want to {see|meet} <thing>, where do I look",
        "where is <thing> at home",
        "where do you usually {spot|see} <thing>",
        "what is home for <thing>",
    ),
    clause=(
        "where <things> live",
        "where <thing> lives",
        "where <things> are found",
        "where to find <things>",
    ),
    command=("tell me where <things> live", "name the habitat of <things>", "explain where <thing> lives"),
    followup=(*_FOLLOWUP, "and where do <things> live"),
)

SOUND = Phrases(
    noun=(
        "the sound of <thing>",
        "the sound that <thing> makes",
        "the noise that <things> make",
        "the {name|word} for the sound of <thing>",
        "the call of <thing>",
    ),
    question=(
        "what sound does <thing> make",
        "what {sound|noise} do <things> make",
        "which noise does <thing> make",
        "what kind of sound do <things> make",
        "<things> make what {sound|noise}",
        "how does <thing> sound",
        "how do <things> sound",
        "what does <thing> sound like",
        "what do you call the {sound|noise} of <thing>",
        "what do we call the noise that <things> make",
        "what is it called when <thing> makes a sound",
        "<thing>, what sound does it make",
        "<things>, what noise do they make",
        "<name> sound",
        "<name> noise",
        "what does <thing> say",
        "what would I hear from <thing>",
        "when <thing> calls, what is that sound called",
        "how does <thing> call",
        "if I hear <thing>, what kind of sound is it",
    ),
    clause=(
        "what sound <thing> makes",
        "what {sound|noise} <things> make",
        "how <thing> sounds",
        "what <thing> sounds like",
    ),
    command=("name the sound of <thing>", "tell me the noise <things> make", "describe the sound of <thing>"),
    followup=(*_FOLLOWUP, "and what sound does <thing> make"),
)

YOUNG = Phrases(
    noun=(
        "the {name|word} for a {baby|young} <name>",
        "the name of the young of <thing>",
        "the right word for the young of <things>",
    ),
    question=(
        "what do you call a {baby|young} <name>",
        "what is a {baby|young} <name> called",
        "how do you call the {baby|young} of <thing>",
        "what are {baby|young} <things> called",
        "what do we call the young of <things>",
        "what are the babies of <things> called",
        "what's the baby of <thing>",
        "<thing> has a baby, what is it called",
        "what name does a {baby|young} <name> have",
        "a baby <name> is called what",
        "baby <name> name",
        "baby <name>",
        "young <name>",
        "word for a {baby|young} <name>",
        "name for {baby|young} <things>",
        "when <thing> is born, what do you call it",
        "is there a word for a {baby|young} <name>",
        "is there a special name for the young of <things>",
        "if I see a baby <name>, what do I call it",
        "<things> have babies, what are those called",
    ),
    clause=(
        "what a {baby|young} <name> is called",
        "what you call a {baby|young} <name>",
        "what the young of <things> are called",
        "how a young <name> is called",
    ),
    command=("name the {baby|young} of <thing>", "say what a baby <name> is called"),
    followup=(*_FOLLOWUP, "and a {baby|young} <name>", "and what is a {baby|young} <name> called"),
)
