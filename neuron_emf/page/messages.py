"""
What explain told people: its lines of Kind `message`, of the last day.

Read once, and each minute the newest again. A message about an alarm that fires
stays the newest one about it until the alarm is over, so a day of them says what
most alarms that fire now are about.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.page.rollup_window import AHEAD_MS, start_of_reading
from neuron_emf.reading import LogGroup
from neuron_emf.reading.rollup_line import object_in
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from neuron_emf.account import Account

KIND: Final = "message"
PATTERN: Final = '"AlarmName"'
KEPT_MINUTES: Final = 1440
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
        self._read_ms = 0  # never
        self._messages: dict[tuple[object, ...], dict[str, Any]] = {}

    def newest_first(self) -> list[dict[str, Any]]:
        """
        All messages of the last day.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        with self._lock:
            now_ms = self._now_ms()
            start_ms = start_of_reading(now_ms, self._read_ms, KEPT_MINUTES)
            if start_ms is not None:
                for text in self._group.lines(start_ms, now_ms + AHEAD_MS, PATTERN):
                    self._take(text)
                self._read_ms = now_ms
                oldest_ms = now_ms - KEPT_MINUTES * MINUTE_MS
                self._messages = {
                    key: one for key, one in self._messages.items() if one["at_ms"] >= oldest_ms
                }
            found = list(self._messages.values())
        return sorted(found, key=lambda one: one["at_ms"], reverse=True)

    def _take(self, text: str) -> None:
        line = object_in(text)
        if line and line.get("Kind") == KIND and (message := _members(line)):
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
