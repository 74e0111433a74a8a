"""Measurements: one module a table or figure, each one command, each one JSON object."""
