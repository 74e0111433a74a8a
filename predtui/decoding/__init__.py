"""Tokens out of logits."""
