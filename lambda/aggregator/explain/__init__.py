"""What an alarm means, whom it concerns, what to do."""

from aggregator.explain.function import handler

__all__ = ["handler"]
