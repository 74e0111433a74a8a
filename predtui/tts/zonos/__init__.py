"""Zonos v0.1 (the transformer checkpoint): text to codec frames to sound, streamed, and resumable within a sentence."""
