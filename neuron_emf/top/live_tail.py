"""
Lines as CloudWatch Logs sends them, a second or two after it took them.

A session has one price a minute, whatever comes. It ends after three hours, and
gives a sample where more than 500 lines a second come; then, and before the
first session, the log group is asked as without it.
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartLiveTail.html
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from emitter.errors import SettingsError
from neuron_emf.account import is_refusal, refusal
from neuron_emf.reading import pattern_of
from neuron_emf.top.feed import LogGroupFeed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_emf.account import Account
    from neuron_emf.printing import Advance
    from neuron_emf.reading import Records
    from neuron_emf.top.window import Window

MAX_WAITING_LINES: Final = 100_000
"""Lines that nobody has taken yet; more are asked for again instead."""


class Session:
    """
    One session, listened to by a thread of its own.

    Attributes:
        has_ended: Nothing more will come.

        is_incomplete: Some lines were left out since somebody asked.
    """

    def __init__(self, stream: Iterable[dict[str, Any]]) -> None:
        """Listen to *stream*, as a client of CloudWatch Logs has it."""
        self.has_ended = False
        self.is_incomplete = False
        self._lines: deque[str] = deque()
        self._stream = stream
        # A daemon: whoever quits does not wait for the next second.
        self._thread = threading.Thread(target=self._listen, name="live tail", daemon=True)
        self._thread.start()

    def take(self) -> list[str]:
        """The lines that have come since the last call."""
        return [self._lines.popleft() for _ in range(len(self._lines))]

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def _listen(self) -> None:
        # Three hours are over, or a connection broke, which the SDK lets through as it is: then
        # the log group is asked, and another session begins.
        with contextlib.suppress(Exception):
            for event in self._stream:
                self._hear(event.get("sessionUpdate", {}))
        self.has_ended = True

    def _hear(self, update: dict[str, Any]) -> None:
        if update.get("sessionMetadata", {}).get("sampled"):
            self.is_incomplete = True
        for found in update.get("sessionResults", ()):
            if len(self._lines) < MAX_WAITING_LINES:
                self._lines.append(found["message"])
            else:
                self.is_incomplete = True


class LiveTailFeed:
    """The emitters' log group by StartLiveTail, and by FilterLogEvents for what that leaves out."""

    is_live = True

    def __init__(self, account: Account, since_ms: int, cluster: str) -> None:
        """
        Begin *since_ms* before the first reading; lines of *cluster* alone, or of all.

        Raises:
            SettingsError: If there is no Live Tail, or no client can be made.
        """
        if account.is_rehearsal:
            msg = "Live Tail was asked for and the rehearsal has none: leave out --live-tail"
            raise SettingsError(msg)
        self._asking = LogGroupFeed(account, since_ms, cluster)
        self._group = account.log_group
        self._pattern = pattern_of(*filter(None, [cluster]))
        self._logs = account.client("logs")
        self._session: Session | None = None
        self._sessions = 0

    @property
    def records(self) -> Records:
        """What was read by the last reading."""
        return self._asking.records

    @property
    def traffic(self) -> str:
        """Sessions, and calls beside them."""
        sessions = "1 session" if self._sessions == 1 else f"{self._sessions} sessions"
        return f"Live Tail, {sessions}; {self._asking.traffic}"

    def read(self, window: Window, now_ms: int, advance: Advance | None = None) -> None:
        """
        Take in what came, and ask for what did not.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        session = self._session
        lines = session.take() if session is not None else []
        if session is None or session.has_ended:
            session = self._session = Session(self._start())  # first, so that nothing falls between
            session.is_incomplete = True
        if session.is_incomplete:
            session.is_incomplete = False
            try:
                self._asking.read(window, now_ms, advance)
            except Exception:
                session.is_incomplete = True
                raise
        window.add(self.records.of(lines))

    def _start(self) -> Iterable[dict[str, Any]]:
        action = "logs:DescribeLogGroups"
        try:
            answer = self._logs.describe_log_groups(logGroupNamePrefix=self._group)
            arn = _arn_of(self._group, answer.get("logGroups", []))
            action = "logs:StartLiveTail"
            started = self._logs.start_live_tail(
                logGroupIdentifiers=[arn], logEventFilterPattern=self._pattern
            )
        except Exception as error:
            if is_refusal(error):
                raise refusal(error, f"{action} on {self._group}") from error
            raise
        self._sessions += 1
        stream: Iterable[dict[str, Any]] = started["responseStream"]
        return stream


def _arn_of(name: str, groups: Iterable[dict[str, Any]]) -> str:
    for group in groups:
        if group.get("logGroupName") == name:
            return str(group.get("logGroupArn") or group["arn"].removesuffix(":*"))
    msg = f"log group {name} was expected to exist and does not: check --log-group and --region"
    raise SettingsError(msg)
