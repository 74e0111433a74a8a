"""The two prompts that PredGen needs beside the conversation: for partial input, and for judging.

One place, because the pocket model is trained on the very words that the verifier uses. Must not know
of models or tokens: it makes message lists, templates turn them into tokens.
"""

from __future__ import annotations

SYSTEM_PROMPT = (
    "You are a voice assistant. What the user says may reach you before it is complete. If it breaks off, "
    "guess what is meant and give your best answer at once. Never mention that the input is incomplete. "
    "Answer in one to four short, complete sentences without lists or formatting."
)
"""PredGen, appendix A.3, in our own words: answer truncated instructions by the best guess."""


def judge_prompt(partial_prompt: str, partial_answer: str) -> str:
    """The judge prompt of reflection (PredGen, section 3.1.2): does this answer fit what was said so far?

    The model answers it with the single word ``yes`` or ``no``.
    """
    return f"question so far: {partial_prompt}\nanswer so far: {partial_answer}\ndo they fit, yes or no?"
