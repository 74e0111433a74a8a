"""Runs the stages: the event bus, the turn gate, hosts, supervision, and the log a restarted stage is given."""

from __future__ import annotations
