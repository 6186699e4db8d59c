"""
Where the fleet's lines come from, and which are asked for next.

CloudWatch Logs is asked for as little as shows everything: from the first
minute on of which a line may still come. Once a minute it is asked for the
last few minutes as a whole, for what came later than expected.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from emitter.errors import SettingsError
from neuron_emf.account import documented
from neuron_emf.reading import LogGroup, Records, lines_in, pattern_of
from neuron_wire.names import MINUTE_MS
from neuron_wire.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from neuron_emf.account import Account
    from neuron_emf.printing import Advance
    from neuron_emf.top.window import Window

LOOK_BACK_MS: Final = 4 * MINUTE_MS
"""How late a line may be and still be seen by one that looks; the rollups take later ones, too."""

MAX_WAITING_LINES: Final = 100_000
"""Lines that nobody has taken yet; more are asked for again instead."""

_WHOLE_EACH_MS: Final = MINUTE_MS
_AHEAD_MS: Final = 2 * MINUTE_MS  # clocks differ


class FileFeed:
    """Files, read again as a whole when one of them has changed."""

    is_live = False

    def __init__(self, paths: Sequence[Path]) -> None:
        self.records = Records()
        self.origin = counted(len(paths), "file")
        self._paths = paths
        self._seen: list[tuple[int, int]] | None = None

    def read(self, window: Window, _now_ms: int, advance: Advance | None = None) -> None:
        """Take in all lines, unless nothing has changed."""
        state = self._state()
        if state is not None and state == self._seen:
            return
        self.records = Records()
        window.add(self.records.of(lines_in(self._paths, advance)))
        self._seen = state

    @property
    def traffic(self) -> str:
        """How many files."""
        return self.origin

    def _state(self) -> list[tuple[int, int]] | None:
        try:
            return [(stat.st_size, stat.st_mtime_ns) for stat in map(Path.stat, self._paths)]
        except OSError:  # reading it says why, and '-' is read once
            return None


class LogGroupFeed:
    """The emitters' log group, by FilterLogEvents."""

    is_live = True

    def __init__(self, account: Account, since_ms: int, cluster: str) -> None:
        """
        Begin *since_ms* before the first reading; lines of *cluster* alone, or of all.

        Raises:
            SettingsError: If no client can be made.
        """
        self.records = Records()
        self.origin = f"log group {account.log_group}"
        self._group = LogGroup(account, account.log_group)
        self._since_ms = since_ms
        self._pattern = pattern_of(*filter(None, [cluster]))
        self._whole_ms: int | None = None

    def read(self, window: Window, now_ms: int, advance: Advance | None = None) -> None:
        """Take in what may have come since the last reading."""
        start_ms = self._start_ms(window, now_ms)
        self.records = Records()  # what is read again is no copy that somebody sent
        window.add(self.records.of(self._lines(start_ms, now_ms, advance)))
        if start_ms <= now_ms - LOOK_BACK_MS:
            self._whole_ms = now_ms

    @property
    def traffic(self) -> str:
        """How many calls, and how much came."""
        return f"{counted(self._group.calls, 'call')}, {self._group.bytes_read / 1e6:,.1f} MB"

    def _lines(self, start_ms: int, now_ms: int, advance: Advance | None) -> Iterator[str]:
        return self._group.lines(start_ms, now_ms + _AHEAD_MS, self._pattern, advance=advance)

    def _start_ms(self, window: Window, now_ms: int) -> int:
        if self._whole_ms is None:
            return now_ms - max(self._since_ms, LOOK_BACK_MS)
        look_back_ms = now_ms - LOOK_BACK_MS
        if now_ms - self._whole_ms >= _WHOLE_EACH_MS:
            # After a pause, or when nothing could be read: no minute in between is left out.
            return min(look_back_ms, self._whole_ms - LOOK_BACK_MS)
        return max(look_back_ms, window.missing_since_ms(look_back_ms))


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
        for event in update.get("sessionResults", ()):
            if len(self._lines) < MAX_WAITING_LINES:
                self._lines.append(event["message"])
            else:
                self.is_incomplete = True


class LiveTailFeed:
    """
    The emitters' log group by StartLiveTail, and by FilterLogEvents for what that leaves out.

    A session has one price a minute, whatever comes. It ends after three hours, and
    gives a sample where more than 500 lines a second come; then, and before the
    first session, the log group is asked as without it.
    https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartLiveTail.html
    """

    is_live = True

    def __init__(self, account: Account, since_ms: int, cluster: str) -> None:
        """
        Begin *since_ms* before the first reading; lines of *cluster* alone, or of all.

        Raises:
            SettingsError: If there is no Live Tail, or no client can be made.
        """
        if account.is_rehearsal:
            msg = "The rehearsal has no Live Tail. Omit --live-tail."
            raise SettingsError(msg)
        self._asking = LogGroupFeed(account, since_ms, cluster)
        self.origin = self._asking.origin
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
        return f"Live Tail, {counted(self._sessions, 'session')}; {self._asking.traffic}"

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
        with documented(f"logs:DescribeLogGroups on {self._group}"):
            answer = self._logs.describe_log_groups(logGroupNamePrefix=self._group)
            arn = _arn_of(self._group, answer.get("logGroups", []))
        with documented(f"logs:StartLiveTail on {self._group}"):
            started = self._logs.start_live_tail(
                logGroupIdentifiers=[arn], logEventFilterPattern=self._pattern
            )
            stream: Iterable[dict[str, Any]] = started["responseStream"]
        self._sessions += 1
        return stream


Feed = FileFeed | LogGroupFeed | LiveTailFeed


def _arn_of(name: str, groups: Iterable[dict[str, Any]]) -> str:
    for group in groups:
        if group.get("logGroupName") == name:
            return str(group.get("logGroupArn") or group["arn"].removesuffix(":*"))
    msg = f"There is no log group {name}. Check --log-group and --region."
    raise SettingsError(msg)
