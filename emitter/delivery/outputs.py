"""Which destination the settings of a run ask for: a log stream, or lines on standard output."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

from emitter.delivery.batches import BatchLimits
from emitter.delivery.cloudwatch_logs import LogStream
from emitter.delivery.destination import Delivered, Outcome, Refused
from emitter.delivery.log_names import require_template, stream_name
from emitter.errors import DeliveryError
from emitter.lines.settings import legacy_permissions
from emitter.settings.run import LOGS, STDOUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.delivery.destination import Destination
    from emitter.settings import RunSettings
    from emitter.spool.records import SpooledRecord

_LIMITS: Final = BatchLimits()  # by arrival: what is read later was written later


class StreamDestination:
    """
    A `Destination` that is an open text file, a pipe or a terminal; the caller closes it.

    A line counts as delivered when the stream has been flushed.

    Attributes:
        limits: One flush per batch; no limit on age or order.
    """

    limits = _LIMITS

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def send(self, batch: Sequence[SpooledRecord]) -> Outcome:
        """Write and flush *batch*. A reader that has gone away is a refusal."""
        try:
            self._stream.write("".join(f"{record.line}\n" for record in batch))
            self._stream.flush()
        except BrokenPipeError:
            return Refused(
                "closed_pipe",
                "The program reading standard output has exited. Keep it running, or use "
                "another --output.",
            )
        except (OSError, ValueError) as error:  # ValueError: the stream was closed
            return Refused("not_writable", f"Cannot write to standard output: {error}.")
        return Delivered()

    def close(self) -> None:
        """Nothing to let go of."""


_UNNAMED: Final = "unnamed"


class Output:
    """
    Where the lines of one run go, as `--output` says.

    A wrong setting is found when it is made, not after the first minute.

    Raises:
        SettingsError: If the lines can go nowhere with these settings.
        DeliveryError: If standard output is closed.
    """

    def __init__(
        self, settings: RunSettings, cluster: str, instance_region: str | None = None
    ) -> None:
        self._settings = settings
        self._cluster = cluster
        self._instance_region = instance_region
        # As the SDK finds it, but for the file of a profile; only for the name of the stream.
        self._region = (
            settings.region or os.environ.get("AWS_DEFAULT_REGION") or instance_region or None
        )
        self._named: LogStream | None = None
        if settings.output == LOGS:
            require_template(settings.log_stream, region=self._region)
        self.destination(_UNNAMED)

    def destination(self, instance_id: str) -> Destination:
        """The destination of the records of *instance_id*."""
        if self._settings.output == STDOUT:
            if sys.stdout is None:
                msg = "Standard output is closed. Open it, or use another --output."
                raise DeliveryError(msg)
            return StreamDestination(sys.stdout)
        self._named = self._log_stream(self._stream(instance_id))
        return self._named

    def lacking(self) -> Refused | None:
        """What a first call would lack; None where nothing is known to, or nothing is called."""
        if self._settings.output != LOGS:
            return None
        return self._log_stream(_UNNAMED).lacking()

    def rename(self, instance_id: str) -> None:
        """The instance is called *instance_id* now: its records go to that one's stream."""
        if self._named is not None:
            self._named.rename(self._stream(instance_id))

    def _log_stream(self, stream: str) -> LogStream:
        settings = self._settings
        return LogStream(
            settings.log_group,
            stream,
            region=settings.region,
            instance_region=self._instance_region,
            needed=legacy_permissions(settings.metrics, settings.log_group),
        )

    def _stream(self, instance_id: str) -> str:
        return stream_name(
            self._settings.log_stream,
            cluster=self._cluster,
            instance_id=instance_id,
            region=self._region,
        )
