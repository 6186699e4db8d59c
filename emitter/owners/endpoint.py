"""A service of this host that may be absent: asked with bounds, then left alone for a while."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import msgspec

from emitter.instance.local_http import MAX_BODY_BYTES, LocalHttpError, exchange

if TYPE_CHECKING:
    from typing import TypeVar

    _T = TypeVar("_T")

WITHIN_S: Final = 1.0
REST_S: Final = 60.0
"""How long nobody is asked who did not answer: without the service it costs a try a minute."""


class Endpoint:
    """One address, and when it did not answer."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._rests_until_s = 0.0

    @property
    def is_resting(self) -> bool:
        """Whether it did not answer a short while ago, or there is none."""
        return not self._url or time.monotonic() < self._rests_until_s

    def ask(self, path: str, kind: type[_T], *, max_bytes: int = MAX_BODY_BYTES) -> _T | None:
        """What stands at *path*, as JSON of *kind*; None without an answer of that kind."""
        if self.is_resting:
            return None
        try:
            ends_at_s = time.monotonic() + WITHIN_S
            reply = exchange(f"{self._url}{path}", ends_at_s=ends_at_s, max_bytes=max_bytes)
        except LocalHttpError:
            reply = None
        if reply is None or reply.status >= 500:
            self._rests_until_s = time.monotonic() + REST_S
            return None
        try:
            return msgspec.json.decode(reply.body, type=kind) if reply.status == 200 else None
        except (ValueError, RecursionError):
            return None
