"""The two prompts that PredGen needs beside the conversation: for partial input, and for judging.

One place, because the pocket model is trained on the very words that the verifier uses. Must not know
of models or tokens: it makes message lists, templates turn them into tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.state.events import Message

SYSTEM_PROMPT = (
    "You are a voice assistant. What the user says may reach you before it is complete. If it breaks off, "
    "guess what is meant and give your best answer at once. Never mention that the input is incomplete. "
    "Answer in one to four short, complete sentences without lists or formatting."
)
"""PredGen, appendix A.3, in our own words: answer truncated instructions by the best guess."""
SHORT_PROMPT = "You are a helpful voice assistant. Answer in a few short sentences."
"""For small models, which take instructions for what is talked about: of 14 everyday questions SmolLM2-135M answered 12
to the end under this one, and counted, or talked of being an assistant, under the one above."""
SMALL = 1_000_000_000
"""Parameters below which a model gets the short one."""


def system_prompt(parameters: int) -> str:
    """The system prompt for a model of so many parameters."""
    return SHORT_PROMPT if parameters < SMALL else SYSTEM_PROMPT


def with_notes(passages: Sequence[str], words: str) -> str:
    """What the user says, behind passages of notes where there are some: while these stay the same, words that are
    added cost no more than themselves."""
    listed = "".join(f"- {text}\n" for text in passages)
    return f"My notes, for information only:\n{listed}\n{words}" if passages else words


JUDGE_QUESTION = "Does that answer fit what I have said so far, yes or no?"


def judge_messages(partial_prompt: str, partial_answer: str) -> tuple[Message, Message, Message]:
    """The judge prompt of reflection (PredGen, section 3.1.2): does this answer fit what was said so far?

    Asked as the next turn of the conversation itself, so that prompt and candidate are a prefix that the model has
    evaluated already. It answers with the single word ``yes`` or ``no``.
    """
    return (
        Message("user", partial_prompt),
        Message("assistant", partial_answer),
        Message("user", JUDGE_QUESTION),
    )
