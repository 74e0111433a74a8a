"""Sound in and out: sources, voice activity, playback. Knows nothing of text."""
