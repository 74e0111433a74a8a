"""Zonos v0.1, the transformer checkpoint: text to codec frames to sound, streamed, saved, resumed in mid-sentence."""
