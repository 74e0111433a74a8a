"""Training a small draft model for any target: on the target's own text, then on its distributions.

After FastDraft (Zafrir et al. 2024) and Direct Alignment (Goel et al. 2024). Must not know of the engine that decodes,
or of the screen.
"""
