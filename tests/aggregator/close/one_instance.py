"""One instance in a registry of its own."""

from __future__ import annotations

from aggregator.close.registry import Registry
from aggregator.storage.records import bucket_of

NAME = "i-0aaaaaaaaaaaaaaa1"


def registry(*minutes, gone=False) -> Registry:
    """Five minutes to silence, sixty to oblivion; one instance seen in *minutes*."""
    made = Registry(silent_after_minutes=5)
    for minute in minutes:
        made.record_presence("training", NAME, minute, "trn1.2xlarge", gone=gone)
    return made


def expected(made: Registry, minute: int) -> bool:
    """Whether closing *minute* waits for the instance."""
    return ("training", NAME) in set(made.expected(bucket_of(NAME), minute))


def silent(made: Registry, minute: int) -> bool:
    """Whether the instance is silent in *minute*."""
    return bool(made.silent_by_cluster(minute).get("training"))
