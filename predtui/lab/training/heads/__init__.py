"""Training heads that draft: on the hidden states that a target had while it gave its own replies.

After Medusa (Cai et al. 2024), Hydra (Ankner et al. 2024), EAGLE (Li et al. 2024) and, on the states of its first
layers, Kangaroo (Liu et al. 2024); through its frozen layers, PPD and Hidden Transfer (2024). Must not know of the
engine that decodes, or of the screen.
"""
