"""
What explain told people: its lines of Kind `message`, of the last day.

Read once, and each minute the newest again. A message about an alarm that fires
stays the newest one about it until the alarm is over, so a day of them says what
most alarms that fire now are about.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.page.rollup_window import AGAIN_MINUTES, AHEAD_MS, EACH_MS
from neuron_emf.reading import LogGroup
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from neuron_emf.account import Account

KIND: Final = "message"
PATTERN: Final = '"AlarmName"'
KEPT_MS: Final = 1440 * MINUTE_MS
_IDENTITY: Final = ("AlarmName", "ClusterName", "State", "Timestamp")


def messages_group(account: Account) -> str:
    """The log group of the stack's function explain."""
    return f"/neuron-emf/{account.stack_name}/explain"


class MessageLines:
    """The messages of one stack; any thread may ask."""

    def __init__(self, account: Account, logs: Any, now_ms: Callable[[], int]) -> None:  # noqa: ANN401  # a boto3 client
        """Nothing is read yet; *logs* is a client of *account*."""
        self._group = LogGroup(account, messages_group(account), logs)
        self._now_ms = now_ms
        self._lock = threading.Lock()
        self._read_ms: int | None = None
        self._messages: dict[tuple[object, ...], dict[str, Any]] = {}

    def newest_first(self) -> list[dict[str, Any]]:
        """
        All messages of the last day.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        with self._lock:
            now_ms = self._now_ms()
            last_ms = self._read_ms
            if last_ms is None or not 0 <= now_ms - last_ms < EACH_MS:
                start_ms = now_ms - KEPT_MS
                if last_ms is not None:
                    start_ms = min(now_ms, last_ms) - AGAIN_MINUTES * MINUTE_MS
                for text in self._group.lines(start_ms, now_ms + AHEAD_MS, PATTERN):
                    self._take(text)
                self._read_ms = now_ms
                self._messages = {
                    key: one
                    for key, one in self._messages.items()
                    if one["at_ms"] >= now_ms - KEPT_MS
                }
            found = list(self._messages.values())
        return sorted(found, key=lambda one: one["at_ms"], reverse=True)

    def _take(self, text: str) -> None:
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            return
        if isinstance(line, dict) and line.get("Kind") == KIND:
            message = _members(line)
            if message is not None:
                self._messages[tuple(str(line.get(name)) for name in _IDENTITY)] = message


def _members(line: Mapping[str, Any]) -> dict[str, Any] | None:
    at_ms = line.get("Timestamp")
    if type(at_ms) is not int:
        return None
    texts = {name: line.get(name) for name in ("AlarmName", "State", "Subject", "Text")}
    if not all(isinstance(text, str) for text in texts.values()):
        return None
    cluster = line.get("ClusterName")
    return {
        "at_ms": at_ms,
        "alarm": texts["AlarmName"],
        "cluster": cluster if isinstance(cluster, str) else None,
        "state": texts["State"],
        "subject": texts["Subject"],
        "text": texts["Text"],
        "first_sentence": _first_sentence(str(texts["Text"])),
    }


def _first_sentence(text: str) -> str:
    """What stands below the headline: the finding, in one line."""
    paragraphs = [line.strip() for line in text.split("\n")]
    return next((line for line in paragraphs[1:] if line), paragraphs[0])
