"""The ledger's bucket in memory, as a client of S3 answers about it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_PAGE: Final = 1_000  # the most keys that ListObjectsV2 gives at once


class LedgerObjectsDouble:
    """
    Objects by key.

    Attributes:
        calls: How many of each were made.
    """

    def __init__(self, objects: Mapping[str, bytes], page: int = _PAGE) -> None:
        """Answer about *objects*, *page* keys at a time."""
        self._objects = objects
        self._page = page
        self.calls = {"list": 0, "get": 0}

    def list_objects_v2(
        self,
        Prefix: str,  # noqa: N803  # as boto3 has it
        ContinuationToken: str = "0",  # noqa: N803
        **_: object,
    ) -> dict[str, Any]:
        """A page of keys."""
        self.calls["list"] += 1
        keys = sorted(key for key in self._objects if key.startswith(Prefix))
        start = int(ContinuationToken)
        end = start + self._page
        answer: dict[str, Any] = {"Contents": [{"Key": key} for key in keys[start:end]]}
        if end < len(keys):
            return {**answer, "IsTruncated": True, "NextContinuationToken": str(end)}
        return {**answer, "IsTruncated": False}

    def get_object(self, Key: str, **_: object) -> dict[str, Any]:  # noqa: N803  # as boto3 has it
        """One object."""
        self.calls["get"] += 1
        return {"Body": io.BytesIO(self._objects[Key])}
