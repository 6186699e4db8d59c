"""Explain an alarm: its meaning, the people it concerns, and what to do."""

from aggregator.explain.function import handler

__all__ = ["handler"]
