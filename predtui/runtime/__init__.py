"""Runs the stages: the event bus, the turn gate, hosts, supervision, and what a restarted stage is told."""

from __future__ import annotations
