"""Whether a reply is right: the generator's own oracle, against which the pocket model is measured.

Strict on facts, lenient on wording: the keys must be there, and no name or number may be there that neither the right
reply holds nor what else is true of the case. Knows nothing of models.
"""

from __future__ import annotations

import re

from predtui.lab.training.corpus.text import holds, sentences, words
from predtui.lab.training.corpus.types import Example

_NUMBER = re.compile(r"\d+(?:[.:]\d+)?")
_NAME = re.compile(r"(?<=[a-z0-9,;:] )[A-Z][\w'-]*")
_WHOLE = re.compile(r"(?<=\d)\.0+(?!\d)")
_MOST_SENTENCES = 4


def expected(example: Example) -> str:
    """The right reply of an example."""
    return example.messages[-1].content


def right(example: Example, reply: str) -> bool:
    """Whether ``reply`` answers the example's last turn correctly, in one to four complete sentences."""
    reply = _WHOLE.sub("", reply.strip())  # 7.0 is 7
    if example.kind == "judge":
        return reply == expected(example)
    if not example.key:
        return " ".join(reply.split()) == " ".join(expected(example).split())
    return _complete(reply) and all(holds(reply, key) for key in example.key) and not contradicts(example, reply)


def _complete(reply: str) -> bool:
    return reply[-1:] in {".", "!", "?"} and len(sentences(reply)) <= _MOST_SENTENCES


def contradicts(example: Example, reply: str) -> bool:
    """Whether ``reply`` names what the right one does not (a number, a name), ends on another number
    where the key is one, or leaves out a slot that the right one restates."""
    truth = expected(example)
    numbers, true_numbers = _NUMBER.findall(reply), _NUMBER.findall(truth)
    numeric = any(map(_NUMBER.search, example.key))
    if set(numbers) - set(true_numbers) or (numeric and numbers[-1:] != true_numbers[-1:]):
        return True
    known = set(words(f"{truth} {example.also}"))
    if any(set(words(name)) - known for name in _NAME.findall(reply)):
        return True
    return any(holds(truth, value) and not holds(reply, value) for value in example.slots.values())
