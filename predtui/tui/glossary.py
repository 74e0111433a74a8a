"""The words of the field that the screen uses, each in a line, for who meets them here first. Data only."""

from __future__ import annotations

WORDS: tuple[tuple[str, str], ...] = (
    ("token", "a piece of text, a word or a part of one: what the model reads and writes"),
    ("partial prompt", "what you have said or typed so far; its reply is guessed as if it were all"),
    ("guess, candidate", "that reply; nothing of it is spoken before it is verified"),
    ("verified, kept", "compared with what the model says to your newest words: so much of the guess still holds"),
    ("forward", "one run of the model, which is what takes the time; it can check many tokens, or write one"),
    ("NFE", "number of forward evaluations: how many forwards something took; {figures} in a pane shows it"),
    ("draft", "tokens proposed by something quicker than the model, which then checks them in one forward"),
    ("lossless", "the reply is token for token the one that the model would have given without any of this"),
    ("first audio", "the time from the end of your words to the first sound of the reply"),
    ("without, saved", "the same without guessing, measured on this machine after the turn; the difference"),
    ("RTF", "real-time factor: seconds of work for a second of sound, below 1 where it keeps up; {figures} shows it"),
)
"""Word → what it means."""
