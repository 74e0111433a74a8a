"""Sound to words. Knows nothing of language models."""
