"""How people ask about days, months and seasons. Knows nothing of the answers."""

from __future__ import annotations

from predtui.training.corpus.types import Phrases


def beside(what: str, slot: str, later: bool) -> Phrases:
    """How people ask for the day or month right after or before another."""
    where, comes = (
        ("after", "{comes|is} {after|right after}") if later else ("before", "{comes|is} {before|right before}")
    )
    near, verb = ("next", "follows") if later else ("previous", "precedes")
    whose = f"<{slot}>"
    return Phrases(
        noun=(
            f"the {what} {where} {whose}",
            f"the {what} {{right|just|directly|immediately}} {where} {whose}",
            f"the {near} {what} {where} {whose}",
            f"the {what} that comes {where} {whose}",
            f"the {what} that {verb} {whose}",
            f"the name of the {what} {where} {whose}",
            f"the {what} one {what} {where} {whose}",
        ),
        question=(
            f"{{what|which}} {what} {comes} {whose}",
            f"{{what|which}} {what} {verb} {whose}",
            f"what comes {where} {whose}",
            f"what is {where} {whose}",
            f"{{what|which}} is the {what} {where} {whose}",
            f"which one {comes} {whose}",
            f"{{what|which}} {what} do we have {where} {whose}",
            f"if {{it is|this is}} {whose} what is the {near} {what}",
            f"{whose} {{is|comes}} {'before' if later else 'after'} which {what}",
        ),
        clause=(
            f"{{what|which}} {what} {comes} {whose}",
            f"what comes {where} {whose}",
            f"what the {what} {where} {whose} is",
            f"{{what|which}} {what} {verb} {whose}",
            f"which {what} is the one {where} {whose}",
        ),
        command=(
            f"name the {what} {where} {whose}",
            f"say which {what} {comes} {whose}",
            f"give me the {what} {where} {whose}",
            f"tell me the {what} that {verb} {whose}",
        ),
        followup=(f"and {where} {whose}", f"what about {where} {whose}", f"and {whose}", f"how about {whose}"),
    )


def ahead(what: str, slot: str, later: bool) -> Phrases:
    """How people ask for the day or month some days or months after or before another."""
    where = "after" if later else "before"
    moved = "{after|from}" if later else "before"
    whose = f"<{slot}>"
    later_on = "later" if later else "earlier"
    return Phrases(
        noun=(
            f"the {what} <span> {moved} {whose}",
            f"<span> {where} {whose}",
            f"the {what} that is <span> {moved} {whose}",
            f"the {what} that comes <span> {where} {whose}",
            f"{whose} {'plus' if later else 'minus'} <span>",
            f"the {what} when it is <span> {where} {whose}",
            f"the name of the {what} <span> {moved} {whose}",
            f"the {what} <span> {later_on} than {whose}",
        ),
        question=(
            f"{{what|which}} {what} is <span> {moved} {whose}",
            f"{{what|which}} {what} is it <span> {moved} {whose}",
            f"{{what|which}} {what} comes <span> {where} {whose}",
            f"{{what|which}} {what} will it be <span> {moved} {whose}"
            if later
            else f"{{what|which}} {what} was it <span> {where} {whose}",
            f"what is <span> {moved} {whose}",
            f"if {{today|now|it}} is {whose} {{what|which}} {what} is it <span> {later_on}",
            f"if it is {whose} what is <span> {later_on}",
            f"starting {{on|from|at}} {whose} what is <span> {later_on}",
            f"<span> {where} {whose} is {{what|which}} {what}",
        ),
        clause=(
            f"{{what|which}} {what} is <span> {moved} {whose}",
            f"{{what|which}} {what} it is <span> {moved} {whose}",
            f"{{what|which}} {what} comes <span> {where} {whose}",
            f"what <span> {where} {whose} is",
            f"which {what} <span> {where} {whose} is",
        ),
        command=(
            f"count <span> {'on' if later else 'back'} from {whose}",
            f"count {'on' if later else 'back'} <span> from {whose}",
            f"start at {whose} and count {'on' if later else 'back'} <span>",
            f"go <span> {'forward' if later else 'back'} from {whose}",
            f"name the {what} <span> {where} {whose}",
            f"find the {what} <span> {where} {whose}",
            f"work out <span> {where} {whose}",
        ),
        followup=(
            f"and <span> {where} {whose}",
            f"what about <span> {where} {whose}",
            f"how about <span> {where} {whose}",
            f"and <span> {where} {whose} then",
        ),
    )


LENGTH = Phrases(
    noun=(
        "the number of days in <month>",
        "the length of <month>",
        "the length of <month> in days",
        "the number of days <month> has",
        "the days in <month>",
        "the day count of <month>",
        "the number of days in the month of <month>",
    ),
    question=(
        "how many days {are|are there} in <month>",
        "how many days does <month> have",
        "how many days has <month>[ got]",
        "how many days {has|are in} the month of <month>",
        "how long is <month>",
        "how long is the month of <month>",
        "does <month> have 30 or 31 days",
        "how many days make up <month>",
        "<month> has how many days",
        "how many days is <month>",
    ),
    clause=(
        "how many days <month> has",
        "how many days are in <month>",
        "how many days there are in <month>",
        "how long <month> is",
        "if <month> has 30 or 31 days",
        "how many days has <month>",
    ),
    command=(
        "count the days {in|of} <month>",
        "say how many days <month> has",
        "say how long <month> is in days",
        "give me the length of <month>",
    ),
    followup=("and <month>", "what about <month>", "and in <month>", "how about <month>", "and how long is <month>"),
)
NUMBER = Phrases(
    noun=(
        "the number of the month <month>",
        "the number of <month>",
        "the month number of <month>",
        "the place of <month> in the year",
        "the position of <month> in the year",
        "the rank of <month> among the months",
        "<month> as a number",
        "<month> in numbers",
    ),
    question=(
        "which month of the year is <month>",
        "{which|what} number is <month>",
        "{which|what} number does <month> have",
        "what number does the month of <month> have",
        "which number do we have for <month>",
        "what number month is <month>",
        "which number has the month <month>",
        "<month> is which month",
        "where in the year does <month> come",
        "what is the number for <month>",
        "how do you write <month> as a number",
        "at which place in the year is <month>",
    ),
    clause=(
        "which number <month> {is|has}",
        "what number <month> {is|has}",
        "which month of the year <month> is",
        "where in the year <month> comes",
        "what number month <month> is",
    ),
    command=("write <month> as a number", "give me the number of <month>", "number the month <month>"),
    followup=("and <month>", "what about <month>", "how about <month>", "and which is <month>"),
)
NUMBERED = Phrases(
    noun=(
        "the <ordinal> month",
        "the <ordinal> month of the year",
        "month number <n>",
        "month <n>",
        "the name of the <ordinal> month",
        "the <ordinal> month in the year",
        "the name of month <n>",
        "the month with the number <n>",
    ),
    question=(
        "which month is the <ordinal>",
        "{which|what} is the <ordinal> month",
        "{which|what} month is number <n>",
        "what is month number <n> called",
        "what is the <ordinal> month called",
        "which month comes <ordinal>",
        "which month has the number <n>",
        "what month is month <n>",
        "{which|what} month is <ordinal> in the year",
    ),
    clause=(
        "which month is the <ordinal>",
        "what the <ordinal> month is[ called]",
        "which month is number <n>",
        "which month has number <n>",
        "which month comes <ordinal>",
    ),
    command=("name the <ordinal> month", "name month number <n>", "say the name of the <ordinal> month"),
    followup=("and the <ordinal>", "what about the <ordinal>", "and month <n>", "how about number <n>"),
)
SEASON = Phrases(
    noun=(
        "the season in <month>",
        "the season of <month>",
        "the season that <month> {is|falls|lies} in",
        "the season <month> belongs to",
        "the season for <month>",
        "the time of year in <month>",
        "the season during <month>",
        "which season is it during <month>",
        "what season do we have during <month>",
    ),
    question=(
        "{which|what} season is <month>[ in]",
        "{which|what} season is it in <month>",
        "in {which|what} season is <month>",
        "in {which|what} season does <month> fall",
        "{which|what} season does <month> belong to",
        "{which|what} season do we have in <month>",
        "what time of year is <month>",
        "<month> is in {which|what} season",
        "to which season does <month> belong",
        "is <month> in spring summer autumn or winter",
    ),
    clause=(
        "{which|what} season <month> is in",
        "{which|what} season it is in <month>",
        "{which|what} season <month> belongs to",
        "in which season <month> falls",
        "what time of year <month> is",
    ),
    command=("name the season of <month>", "say which season <month> is in", "give me the season for <month>"),
    followup=("and <month>", "what about <month>", "and in <month>", "how about <month>"),
)
UNITS = Phrases(
    noun=(
        "the number of <parts> in <whole>",
        "<whole> in <parts>",
        "the <parts> in <whole>",
        "the length of <whole> in <parts>",
        "the number of <parts> <whole> has",
        "the count of <parts> in <whole>",
    ),
    question=(
        "how many <parts> {are|are there} in <whole>",
        "how many <parts> does <whole> have",
        "how many <parts> has <whole>[ got]",
        "how many <parts> make[ up] <whole>",
        "how many <parts> is <whole>",
        "how many <parts> go into <whole>",
        "how long is <whole> in <parts>",
        "<whole> has how many <parts>",
        "<whole> is how many <parts>",
        "in <whole> how many <parts> are there",
        "how many <parts> do you get in <whole>",
    ),
    clause=(
        "how many <parts> <whole> has",
        "how many <parts> are in <whole>",
        "how many <parts> there are in <whole>",
        "how many <parts> make <whole>",
        "how long <whole> is in <parts>",
    ),
    command=("count the <parts> in <whole>", "say how many <parts> <whole> has", "give <whole> in <parts>"),
    followup=("and how many <parts> in <whole>", "and <parts> in <whole>", "what about <parts> in <whole>"),
)
