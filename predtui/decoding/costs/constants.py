"""Every constant of measuring and scheduling, each with what it rests on.

Where a comment names no figure, the value was set by hand, and tried with ``predtui bench decoding --threads 1`` on the
pocket models, for Duo with a second core. Must not know what is done with them.
"""

from __future__ import annotations

# Curves and lines: what a job of some size takes.
INSTANT = 1e-9
"""Seconds of what takes none."""
WINDOW, SOLID = 9, 3
"""Measurements of a size of which the median is taken, and as many as make a size speak for those between. One
forward in which the machine stalls does not move it."""
DRAFT_DECAY = 0.98
"""What remains of a draft's time, and of its acceptance, after another one: some fifty drafts are remembered."""

# The scheduler: tokens of a draft, for a source that is asked before each forward.
LONGEST = 64
"""Tokens of the longest draft."""
FIRST = 3
"""Tokens of the first draft, for most sources."""
LENGTHS = (*range(9), 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, LONGEST)
"""Lengths among which the best is looked for."""
NEARLY = 0.93
"""Of the best speed: the longest draft that promises so much, and no less than none, is chosen, since a reply may end
with it, and the first of a reply is verified in the forward that reads its prompt."""
ALMOST = 0.999
"""The highest acceptance rate to plan with: nothing is certain."""
DRAFT_PRIOR = (4.0, 1.0)
"""Accepted and rejected tokens at the beginning."""
DECIDE = 4
"""Drafted forwards from one decision to the next."""
HOPELESS = 2.0
"""Rejected tokens, the prior's included, from which on the first decision does not wait for so many forwards: a source
that is wrong at once costs a new kind of reply up to 7 % over its first two dozen replies."""
PATIENCE, MOST_PATIENCE = 32, 1024
"""Forwards without a draft until the next trial; each trial that fails doubles them. With more at first, one wrong
measurement cost three whole replies."""
TRIALS = 3
"""Drafts in a row that are accepted as a whole for no gain before a trial has failed; one that is not, fails it."""
MISSES, MOST_MISSES = 8, 32
"""Empty drafts in a row until a source is left alone for as many forwards, and the most of these. Asking one that never
has anything to say took 3 % of a token."""
REMEASURE = 64
"""Drafted forwards after which one without a draft is measured again."""

# The prefill of a draft model: whether a reply is worth it. After 1,000 tokens of prompt the pocket draft read for
# 45 ms, to save 20 ms in a short reply.
REPLY_DECAY, SAVED_DECAY = 0.9, 0.98
"""What remains of earlier replies after one, and of earlier drafts."""
KNOWN_AFTER = 32
"""Drafted tokens until what drafts save is taken for known."""
AGAIN, MOST_AGAIN = 4, 32
"""Of replies that the prefill does not pay for, every so many-th is drafted, to see whether that is still so; of those
after it half as many, down to the second of these."""

# The bandit over drafters. In times of a plain forward; what may be lost in all is the sum of the shares.
BANDIT_STAKE, BANDIT_LOOK, BANDIT_GLANCE, BANDIT_HEED = 0.008, 0.003, 0.006, 0.003
"""Shares of the time that may be lost by drafts, spent on looking at dear drafters that are not drafted with, at cheap
ones, and on having them observe forwards. Two in a hundred together."""
BANDIT_STAKE_FIRST, BANDIT_STAKE_MOST, BANDIT_LOOK_MOST = 6.0, 32.0, 256.0
"""What may be lost before any time has passed; the most that is kept of what was saved up or won, and of what is saved
for looking: a draft model has to read the prompt for that."""
BANDIT_TRUST = 96.0
"""What the arm that is thought to be the fastest may lose beyond that."""
BANDIT_DECAY, BANDIT_FADE = 0.93, 0.98
"""What remains of earlier drafts of an arm after one of them, and of all after a reply."""
BANDIT_PRIOR = 1.0
"""Drafts that the prior counts for."""
BANDIT_HOPE, BANDIT_HOPES = 0.65, {"draft": 0.15, "datastore": 0.1, "windows": 0.15}
"""The acceptance rate that it is reckoned with, and how much higher it is for each thing that an arm drafts with: what
is there to draft with was made for the target, or for what is talked about."""
BANDIT_WEIGHT = 0.2
"""Of the newest measurement in the running mean of what observing takes."""
BANDIT_BOLD = 0.4
"""How much better an arm may be than it seems, for the square root of ln(all) / its own drafts."""
BANDIT_LOOKS = 4
"""Forwards in a row for which an arm is looked at: a draft model has to read the prompt for the first of them."""
BANDIT_REPLY = 32.0
"""Tokens of a reply, before there was any."""
BANDIT_FREE = 0.2
"""Times of a forward: an arm that takes no longer is asked whatever others have to say."""
BANDIT_ADDED, BANDIT_BRANCH = (1.0, 4.0), 16
"""Tokens that an arm brought beside others, and that were hoped for, at the beginning: arms often fail together; and
the tokens that a branch of an arm is thought to have."""
BANDIT_CHEAP = 0.5
"""Times of a forward: an arm that takes longer than that is not looked at again at once."""
BANDIT_SLACK = 0.95
"""Of what asking an arm took at most, after it was asked again: it is not forgotten for one that took less."""
BANDIT_WORDS = (8.0, 8.0, 2.0)
"""Tokens of an arm's drafts that are taken for said to be accepted, and accepted, at the beginning, and the drafts."""
BANDIT_LEAST = 1e-9
"""Accepted tokens of an arm that are reckoned with at least: of one that is never right, none are left in the end."""
BANDIT_REPEATS = 3
"""Tokens in a row that make a context repeat itself."""

# Duo: tokens of a draft that is made while the target verifies.
DUO_LONGEST, DUO_FIRST = 32, 4
"""Tokens of the largest budget, and of the one to begin with."""
DUO_WEIGHT = 0.2
"""Of the newest measurement in the running mean of the draft's time."""
DUO_PRIOR, DUO_DECAY = (4.0, 5.0), 0.98
"""Accepted and judged tokens at the beginning; what remains of both after an iteration."""
DUO_ALONE, DUO_REMEASURE = 3, 64
"""Iterations without a draft to begin with, and iterations until there is another: what the target takes alone. A draft
beside it takes some of its cache and memory."""
DUO_PATIENCE, DUO_MOST_PATIENCE = 32, 256
"""Iterations until drafting is tried again where it does not pay; each trial that fails doubles them."""

# A target behind a network.
STREAM_DECAY = 0.8
"""What remains of earlier streamed requests after one."""
SELDOM = 60
"""Where tokens are streamed, drafting is tried again after as many of them as come in the time of so many requests: a
trial costs two, its own and that for the rest of the reply."""

# The costs of a model's forwards, measured when it is first opened.
SIZES = (1, 16, 4, 48)
"""Tokens of the forwards that are measured, the first two of them always: one says nothing of many."""
REPEATS = 3
MEASURING_S = 0.5
"""What takes longer altogether is left out."""
NEAR = 1.5
"""What is remembered holds where a forward over one token takes at most so many times as long, or as short."""

# Work that is drawn on the timeline.
SPAN_S = 0.1
"""Work that begins within so many seconds is one span."""
MOST_SPANS = 400
"""Spans kept until they are taken."""
