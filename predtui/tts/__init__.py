"""Text to sound, sentence by sentence, resumable."""
