"""Logits out of tokens: one protocol, one module an engine, chat templates."""
