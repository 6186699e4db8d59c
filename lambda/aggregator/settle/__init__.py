"""Settle: each hour, the ledger's objects of an hour whose minutes no longer change."""

from aggregator.settle.function import handler

__all__ = ["handler"]
