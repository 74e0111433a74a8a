"""How people ask for days and months before and after others. Knows nothing of the answers."""

from __future__ import annotations

from predtui.lab.training.corpus.types import Phrases


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
            f"the {what} to come {{just|right|straight}} after {whose}"
            if later
            else f"the {what} that was {{just|right|straight}} before {whose}",
            f"the {what} you get {where} {whose}",
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
            f"{{which|what}} {what} {{do I find|is written|stands}} in the {{planner|diary|calendar}} {where} {whose}",
            f"in the {{list|order|row}} of {what}s, what stands {where} {whose}",
            f"going {{through|over}} the {what}s in order, {{what|which}} one is {where} {whose}",
            f"the {what} {where} {whose} is {{what|which}}",
            f"{where} {whose} we have {{what|which}} {what}",
            f"what do we have {where} {whose}[ then]",
            f"what is the name of the {what} {where} {whose}",
            f"{whose} and {{then|next}} which {what}" if later else f"{whose} and before that which {what}",
            f"if {{today|now|it}} is {whose} {{what|which}} {what} will come next"
            if later
            else f"if {{today|now|it}} is {whose} {{what|which}} {what} came before",
            f"in the calendar what {what} is {where} {whose}",
        ),
        clause=(
            f"{{what|which}} {what} {comes} {whose}",
            f"what comes {where} {whose}",
            f"what the {what} {where} {whose} is",
            f"{{what|which}} {what} {verb} {whose}",
            f"which {what} is the one {where} {whose}",
            f"{{what|which}} {what} stands {where} {whose} in the calendar",
            f"{{which|what}} {what} I should expect {{just|right}} after {whose}"
            if later
            else f"{{which|what}} {what} we had {{just|right}} before {whose}",
            f"what {what} we have {where} {whose}",
            f"which {what} you get right {where} {whose}",
        ),
        command=(
            f"name the {what} {where} {whose}",
            f"say which {what} {comes} {whose}",
            f"give me the {what} {where} {whose}",
            f"tell me the {what} that {verb} {whose}",
            f"{{write down|spell|say}} the {what} {where} {whose}",
            f"{{remind me of|help me with}} the {what} {where} {whose}",
            f"find the {what} {where} {whose}",
            f"[now ]tell me what comes {where} {whose}",
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
            f"{whose} and <span> {later_on}",
            f"the {what} we have <span> {where} {whose}",
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
            f"{{what|which}} {what} {{do I find|is shown|stands|will I see}} in the "
            f"{{planner|calendar|diary}} <span> {where} {whose}",
            f"{{what|which}} {what} do we have <span> {where} {whose}",
            f"it is {whose} now so what {what} {{comes|is it}} in <span>"
            if later
            else f"it is {whose} now so what {what} was it <span> ago",
            f"if it is {whose} now {{what|which}} {what} will it be in <span>"
            if later
            else f"if it is {whose} now {{what|which}} {what} was it <span> ago",
            f"{{which|what}} {what} do I reach if I go <span> on from {whose}"
            if later
            else f"{{which|what}} {what} do I reach if I go <span> back from {whose}",
            f"{whose} and <span> {later_on} is {{what|which}} {what}",
            f"{whose} plus <span> is {{which|what}} {what}"
            if later
            else f"{whose} minus <span> is {{which|what}} {what}",
            f"counting <span> on from {whose} what {what} is it"
            if later
            else f"counting <span> back from {whose} what {what} is it",
        ),
        clause=(
            f"{{what|which}} {what} is <span> {moved} {whose}",
            f"{{what|which}} {what} it is <span> {moved} {whose}",
            f"{{what|which}} {what} comes <span> {where} {whose}",
            f"what <span> {where} {whose} is",
            f"which {what} <span> {where} {whose} is",
            f"what {what} we have <span> {where} {whose}",
            f"which {what} you reach <span> {where} {whose}",
        ),
        command=(
            f"count <span> {'on' if later else 'back'} from {whose}",
            f"count {'on' if later else 'back'} <span> from {whose}",
            f"start at {whose} and count {'on' if later else 'back'} <span>",
            f"go <span> {'forward' if later else 'back'} from {whose}",
            f"name the {what} <span> {where} {whose}",
            f"find the {what} <span> {where} {whose}",
            f"work out <span> {where} {whose}",
            f"tell me what {what} is <span> {where} {whose}",
            f"[just ]give me the {what} <span> {where} {whose}",
            f"[just ]figure out the {what} <span> {where} {whose}",
        ),
        followup=(
            f"and <span> {where} {whose}",
            f"what about <span> {where} {whose}",
            f"how about <span> {where} {whose}",
            f"and <span> {where} {whose} then",
        ),
    )
