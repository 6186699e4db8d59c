"""
Put records into a CloudWatch log stream. This is the only module of the emitter that uses boto3.

It puts records first and creates the stream only if it is missing, without a Describe call: 10,000
instances that start together would exceed the 25 calls a second of DescribeLogStreams. The SDK does
not retry; `neuron_emitter.delivery.delivery` does. The first send imports boto3, because other
outputs do not need it.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import time
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final, cast

from botocore import exceptions as aws

from neuron_emitter import __version__
from neuron_emitter.delivery.aws_failures import (
    ALREADY_EXISTS,
    NOT_FOUND,
    Failure,
    outcome_of,
    sdk_outcome,
)
from neuron_emitter.delivery.destination import (
    PUT_LOG_EVENTS,
    Delivered,
    Outcome,
    Refused,
    rejected_places,
    require_group,
)
from neuron_emitter.delivery.sdk_models import lean_loading
from neuron_emitter.logs import Repeats
from neuron_wire.names import region_of_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from botocore.client import BaseClient
    from botocore.session import Session

    from neuron_emitter.delivery.destination import Response
    from neuron_emitter.spool.spool_records import SpooledRecord

PUT_TIMEOUT_S: Final = 15
SKEW_WARN_S: Final = 60.0
SKEW_LOG_INTERVAL_S: Final = 3600.0
# After these failures a new client may find corrected settings; the old client keeps its
# credentials.
_STALE_AFTER: Final = "access client credentials no_region signature"

_log = logging.getLogger(__name__)


class UnreadableResponseError(ValueError):
    """CloudWatch Logs, or a proxy before it, returned something that the SDK cannot read."""


class LogStream:
    """
    A `Destination` that is one log stream.

    Attributes:
        limits: The limits of PutLogEvents.

    Raises:
        SettingsError:
            If *group* or *stream* is not a valid name in CloudWatch Logs.
    """

    limits = PUT_LOG_EVENTS

    def __init__(
        self,
        group: str,
        stream: str,
        *,
        region: str | None = None,
        instance_region: str | None = None,  # used if no Region is configured
        needed: str = "",  # sentence about permissions for the error of a refusal
    ) -> None:
        self._group = require_group(group)
        self._stream = stream
        self._region = region or region_of_variables(os.environ)
        self._instance_region = instance_region
        self._needed = needed
        self._client: BaseClient | None = None
        self._skew_log = Repeats(SKEW_LOG_INTERVAL_S)

    def rename(self, stream: str) -> None:
        """Send to another stream from the next batch on. May be called from any thread."""
        self._stream = stream

    def send(self, batch: Sequence[SpooledRecord]) -> Outcome:
        """Put *batch*; create the stream first if it is missing."""
        outcome = self._answer(batch)
        if isinstance(outcome, Refused) and outcome.reason in _STALE_AFTER.split():
            self.close()
            # a session has many reference cycles; without this, ten sessions accumulate
            gc.collect()
        return self._with_needed(outcome)

    def missing_for_call(self) -> Refused | None:
        """Return why a first call would fail: no Region or no credentials. No call is made."""
        try:
            session = _new_session()
            if not (self._region or session.get_config_variable("region") or self._instance_region):
                raise aws.NoRegionError
            if session.get_credentials() is None:
                raise aws.NoCredentialsError
        except aws.BotoCoreError as error:
            outcome = self._with_needed(_sdk_outcome(error))
            return outcome if isinstance(outcome, Refused) else None
        return None

    def close(self) -> None:
        """Close the connections. The next send opens them again and looks up credentials again."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _answer(self, batch: Sequence[SpooledRecord]) -> Outcome:
        from botocore.parsers import ResponseParserError  # noqa: PLC0415 - as in `_connect`

        try:
            if self._client is None:
                self._client = self._connect()
            return self._put(self._client, batch)
        except aws.ClientError as error:
            self._compare_clocks(error.response)
            region = self._region or "the default region"
            return outcome_of(_failure(error), group=self._group, region=region)
        except (aws.BotoCoreError, ResponseParserError, ValueError) as error:
            # ValueError: the endpoint is not a URL; creating the client finds it
            return _sdk_outcome(error)

    def _with_needed(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Refused) and self._needed:
            return Refused(outcome.reason, f"{outcome.sentence} {self._needed}")
        return outcome

    def _connect(self) -> BaseClient:
        import boto3  # noqa: PLC0415 - 0.1 s and 10 MB that other outputs save
        from botocore.config import Config  # noqa: PLC0415 - as above

        core = _new_session()
        files = core.get_component("data_loader").file_loader
        files.load_file = lean_loading(files.load_file)
        core.register("response-received.cloudwatch-logs.PutLogEvents", _require_answer)
        session = boto3.session.Session(region_name=self._region, botocore_session=core)
        self._region = session.region_name or self._instance_region
        config = Config(
            connect_timeout=5,
            read_timeout=PUT_TIMEOUT_S,
            retries={"mode": "standard", "total_max_attempts": 1},
            max_pool_connections=1,
            user_agent_extra=f"neuron-emf/{__version__}",
        )
        return session.client("logs", region_name=self._region, config=config)

    def _put(self, client: BaseClient, batch: Sequence[SpooledRecord]) -> Delivered:
        place = {"logGroupName": self._group, "logStreamName": self._stream}
        events = [{"timestamp": record.timestamp_ms, "message": record.line} for record in batch]
        try:
            response = _called(client.put_log_events, **place, logEvents=events)
        except aws.ClientError as error:
            if _failure(error).code != NOT_FOUND:
                raise
            try:
                # still not found: the log group is missing
                _called(client.create_log_stream, **place)
            except aws.ClientError as error:
                if _failure(error).code != ALREADY_EXISTS:
                    raise
            response = _called(client.put_log_events, **place, logEvents=events)
        self._compare_clocks(response)
        return Delivered(rejected_places(response, len(batch)))

    def _compare_clocks(self, response: Response) -> None:
        metadata = cast("Mapping[str, Mapping[str, str]]", response.get("ResponseMetadata", {}))
        # the header has no date, or a day of a hundred digits
        with suppress(ValueError, OverflowError):
            date = parsedate_to_datetime(metadata.get("HTTPHeaders", {}).get("date", ""))
            skew_s = time.time() - date.timestamp()  # this machine's clock minus CloudWatch's
            if abs(skew_s) > SKEW_WARN_S and self._skew_log.due("skew"):
                _log.warning("clock skew found", extra={"skew_s": round(skew_s)})


def _new_session() -> Session:
    """Return a session that looks up credentials again."""
    import botocore.session  # noqa: PLC0415 - as in `_connect`

    return botocore.session.Session()


def _require_answer(response_dict: Response | None, **_event: object) -> None:
    """
    Raise an error if a response with HTTP 200 has no JSON object.

    The SDK accepts any body that comes with HTTP 200, such as half a response or a proxy's page, as
    an empty response. Rejected records would then count as delivered.

    Raises:
        UnreadableResponseError:
            If the body is not a JSON object.
    """
    if response_dict is None:
        return  # no response: the SDK has raised an error already
    status = cast("int", response_dict["status_code"])
    if status >= 300:
        return  # the SDK raises an error, with or without a body
    body = cast("bytes", response_dict["body"])
    is_answer = False
    with suppress(ValueError):
        is_answer = isinstance(json.loads(body), dict)
    if not is_answer:
        msg = f"HTTP {status} returned {len(body)} bytes that are not a JSON object"
        raise UnreadableResponseError(msg)


def _sdk_outcome(error: Exception) -> Outcome:
    return sdk_outcome({kind.__name__ for kind in type(error).__mro__}, str(error))


def _failure(error: aws.ClientError) -> Failure:
    words = error.response.get("Error", {})
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return Failure(
        operation=error.operation_name,
        # An error name is short; a longer text is cut before it is logged.
        code=str(words.get("Code", "unknown"))[:128],
        status=status if isinstance(status, int) else 0,
        message=str(words.get("Message", "")),
    )


def _called(operation: Callable[..., Response], **parameters: object) -> Response:
    """
    Call *operation*.

    Raises:
        UnreadableResponseError:
            If a member of the response has an unexpected type, for which the SDK raises one of
            several errors.
    """
    try:
        return operation(**parameters)
    except (AttributeError, LookupError, RecursionError, TypeError) as error:
        msg = f"the SDK cannot read the response: {type(error).__name__}"
        raise UnreadableResponseError(msg) from error
