"""
The stack that a command reads, and the clients to read it.

This is the only module of the commands that knows boto3. It uses the credentials of the caller, and
only `deploy` changes anything. With `--rehearsal` the clients reach only the embedded AWS of `make
demo` on this machine, at the address that the rehearsal's page publishes.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import traceback
import urllib.parse
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import IncompleteReadError

from neuron_emf.cost.tariff import TABLES
from neuron_emitter.delivery.aws_failures import (
    PROXY_ADVICE,
    access_advice,
    bounded,
    cause_of,
    sdk_cause,
    unreachable,
)
from neuron_emitter.errors import SettingsError, SourceError
from neuron_wire.names import region_of_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_emf.command_options import AccountSettings
    from neuron_wire.line_members import JsonObject

REHEARSAL: Final = "http://127.0.0.1:8600/rehearsal.json"
"""The document in which the page of `make demo` describes its embedded AWS."""

# The whole address: in http://a.example\@127.0.0.1 another reader may see another host.
_LOOPBACK_ADDRESS: Final = re.compile(r"http://(127\.0\.0\.1|\[::1\]):[0-9]{1,5}")
_REHEARSAL_TIMEOUT_S: Final = 5.0
_MAX_REHEARSAL_BYTES: Final = 65_536
_CONNECT_TIMEOUT_S: Final = 5
_AWS_READ_TIMEOUT_S: Final = 30
_MAX_CALL_ATTEMPTS: Final = 5
CONNECTIONS: Final = 16
"""Connections of one client at a time: as many as the threads that read."""

MALFORMED_ERRORS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors that an answer with another shape than expected causes."""


class NoOutputError(SourceError):
    """The stack does not have the requested resource."""


@dataclass(frozen=True, slots=True)
class Account:
    """
    The place to read from.

    Attributes:
        log_group: Log group of the emitters' lines.

        rollups_log_group: Log group of the rollups.

        stack_name: Name of the stack, under which its queries are saved.

        is_rehearsal: True for the embedded AWS on this machine.
    """

    log_group: str
    rollups_log_group: str
    stack_name: str
    is_rehearsal: bool = False
    _region: str | None = None
    _endpoint_url: str | None = None

    @property
    def region(self) -> str | None:
        """The AWS Region; None if none is set."""
        with _configured():
            region = self._region or region_of_variables(os.environ)
            return region or _new_session().region_name

    @property
    def partition(self) -> str:
        """The partition of the Region's ARNs, such as `aws-cn`; `aws` without a Region."""
        with _configured():
            region = self.region
            return _new_session().get_partition_for_region(region) if region else "aws"

    def client(self, service: str) -> Any:  # noqa: ANN401  # boto3 publishes no types
        """
        Return a client of *service*, such as `logs`, in the account's Region.

        Raises:
            SettingsError: If no Region is known, or the Region does not exist.
        """
        from botocore.config import Config  # noqa: PLC0415 - as in `_new_session`

        # A rehearsal accepts any credentials. Real ones must not be sent to it, and no proxy leads
        # to it.
        keys = dict.fromkeys(
            ("aws_access_key_id", "aws_secret_access_key") if self.is_rehearsal else (), "rehearsal"
        )
        config = Config(
            connect_timeout=_CONNECT_TIMEOUT_S,
            read_timeout=_AWS_READ_TIMEOUT_S,
            max_pool_connections=CONNECTIONS,
            retries={"mode": "standard", "total_max_attempts": _MAX_CALL_ATTEMPTS},
            proxies={} if self.is_rehearsal else None,
        )
        with _configured():
            session = _new_session(region_name=self.region, **keys)
            client = session.client(service, endpoint_url=self._endpoint_url, config=config)
        client.meta.events.register("before-parse", _require_whole)
        return client


def _new_session(**settings: str | None) -> Any:  # noqa: ANN401  # boto3 publishes no types
    import boto3  # noqa: PLC0415 - 0.1 s and 15 MB that commands on files save

    return boto3.session.Session(**settings)


def _require_whole(
    operation_model: Any,  # noqa: ANN401  # boto3 publishes no types
    response_dict: JsonObject,
    **_event: object,
) -> None:
    """
    Refuse half a body and a proxy's page: the SDK reads either as a success without content.

    Raises:
        IncompleteReadError: If the connection ended before the body did.
        ResponseParserError: If the response must be JSON and is not.
    """
    from botocore.parsers import ResponseParserError  # noqa: PLC0415 - as in `_new_session`

    body = response_dict["body"]
    # or a body that the caller streams
    if response_dict["status_code"] != 200 or type(body) is not bytes:
        return
    length = response_dict["headers"].get("content-length", "")
    has_length = length.isdecimal() and operation_model.http.get("method") != "HEAD"
    if has_length and len(body) < int(length):
        raise IncompleteReadError(actual_bytes=len(body), expected_bytes=length)
    is_json = operation_model.service_model.protocol == "json" and operation_model.output_shape
    if is_json and not body.lstrip().startswith((b"{", b"[")):
        msg = f"the response is {len(body)} bytes that are not JSON"
        raise ResponseParserError(msg)


@contextmanager
def _configured() -> Iterator[None]:
    """
    Translate errors about the settings of the AWS SDK.

    Raises:
        SettingsError: If the settings are incomplete or wrong.
    """
    try:
        yield
    except Exception as error:
        # ValueError: an endpoint that is not a URL
        if not (is_refusal(error) or isinstance(error, ValueError)):
            raise
        advice = _ERROR_ADVICE[refusal_cause(error)]
        msg = f"Cannot connect to AWS: {bounded(str(error)).rstrip('.')}. {advice}"
        raise SettingsError(msg) from error


def account(settings: AccountSettings) -> Account:
    """
    Return the account that *settings* name.

    Raises:
        SourceError: If a rehearsal is selected and none runs on this machine.
    """
    if settings.rehearsal:
        try:
            return rehearsed_account(rehearsal_document("rehearsal.json"))
        except MALFORMED_ERRORS as error:
            raise _no_rehearsal(REHEARSAL) from error
    return Account(
        log_group=settings.log_group,
        rollups_log_group=settings.rollups_log_group
        or f"/neuron-emf/{settings.stack_name}/rollups",
        stack_name=settings.stack_name,
        _region=settings.region,
    )


def stack_output(account: Account, name: str, advice: str) -> str:
    """
    Return the output *name* of the account's stack. *advice* is for a stack without the output.

    Raises:
        NoOutputError: If the stack has no such output.
        SourceError: If there is no such stack, or CloudFormation refuses or does not answer.
    """
    with documented("cloudformation:DescribeStacks"):
        answer = account.client("cloudformation").describe_stacks(StackName=account.stack_name)
        for output in answer["Stacks"][0].get("Outputs", ()):
            if output["OutputKey"] == name:
                return str(output["OutputValue"])
    msg = f"The stack {account.stack_name} has no output {name}. {advice}"
    raise NoOutputError(msg)


def rows_of(client: Any, operation: str, member: str, **request: object) -> Iterator[Any]:  # noqa: ANN401  # boto3 publishes no types
    """Yield the rows of *member* in every page of *operation*, such as `describe_stacks`."""
    for page in client.get_paginator(operation).paginate(**request):
        yield from page[member]


def error_code(error: BaseException | None) -> str:
    """Return AWS's code of *error*, such as `ValidationError`; empty if AWS did not answer."""
    return str(_answer(error).get("Error", {}).get("Code", ""))


def _answer(error: BaseException | None) -> JsonObject:
    """Return AWS's answer in *error*. The SDK's own errors may have a `response` that is None."""
    response = getattr(error, "response", None)
    return response if isinstance(response, dict) else {}


def is_refusal(error: Exception) -> bool:
    """
    Return True if a client raises *error* because AWS refuses or does not answer.

    An answer with a shape that the SDK does not know, such as a proxy's page, causes errors of any
    kind inside the SDK's parsers.
    """
    if _is_of_the_sdk(error):
        return True
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(frame.f_globals.get("__name__") == "botocore.endpoint" for frame in frames)


def _is_of_the_sdk(error: Exception) -> bool:
    return type(error).__module__.startswith("botocore.")


@contextmanager
def documented(action: str) -> Iterator[None]:
    """
    Call *action* and read its answer inside this context: errors become SourceErrors.

    Raises:
        SourceError: If AWS refuses, or a member of the answer is missing or has another type.
    """
    try:
        yield
    except Exception as error:
        if is_refusal(error) or isinstance(error, MALFORMED_ERRORS):
            raise refusal(error, action) from error
        raise


def words_of(error: Exception) -> str:
    """Return AWS's message in its answer, else the SDK's message; bounded."""
    answer = _answer(error)
    return bounded(str(answer.get("Error", {}).get("Message", "")) if answer else str(error))


def refusal_cause(error: Exception) -> str:
    """Return the cause of a refusal, as named in `neuron_emitter.delivery.aws_failures`."""
    if not (answer := _answer(error)):
        return sdk_cause({base.__name__ for base in type(error).__mro__})
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    operation = getattr(error, "operation_name", "")
    cause = cause_of(error_code(error), status, operation)
    if cause in {"proxy", "throttled", "service"}:
        return cause
    if operation in _FOR_CREDENTIALS:
        return "credentials"
    return "missing" if "does not exist" in words_of(error) else cause


def refusal(error: Exception, action: str) -> SourceError:
    """Return *error* of *action*, such as `logs:FilterLogEvents`, as a sentence for a person."""
    service, _, call = action.partition(" ")[0].partition(":")
    if not _is_of_the_sdk(error):
        advice = _ERROR_ADVICE["connection_lost"]
        return SourceError(f"Unexpected response to {action} ({type(error).__name__}). {advice}")
    code = error_code(error)[:100] or type(error).__name__
    words = words_of(error)
    cause = refusal_cause(error)
    operation = getattr(error, "operation_name", "")
    if cause == "no_connection":
        return SourceError(
            " ".join(unreachable(words, service=_ERRORS["services"].get(service, service)))
        )
    if operation in _FOR_CREDENTIALS:
        action = f"{operation}, for the credentials of {action},"
    advice = _ERROR_ADVICE[cause]
    if cause == "access":
        advice = access_advice(f"{code} {words}", advice)
    if cause == "throttled":
        advice = _ERRORS["quotas"].get(call, advice)
    suffix = f": {words.rstrip('.')}" if words else ""
    return SourceError(f"{action} failed ({code}){suffix}. {advice}")


_DIRECTLY: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))

_ERRORS: Final = TABLES["aws"]
_ERROR_ADVICE: Final = {**_ERRORS["advice"], "proxy": PROXY_ADVICE}
"""Advice by cause, as named in `neuron_emitter.delivery.aws_failures`."""

_FOR_CREDENTIALS: Final = frozenset(
    {
        "AssumeRole",
        "AssumeRoleWithSAML",
        "AssumeRoleWithWebIdentity",
        "CreateOAuth2Token",
        "CreateToken",
        "GetRoleCredentials",
    }
)
"""Actions that the SDK calls to get credentials."""


def rehearsal_document(name: str) -> Any:  # noqa: ANN401  # JSON of the rehearsal
    """
    Return the document *name* of the rehearsal on this machine, such as `rehearsal.json`.

    Raises:
        SourceError: If no rehearsal runs.
    """
    address = urllib.parse.urljoin(REHEARSAL, name)
    try:
        with _DIRECTLY.open(address, timeout=_REHEARSAL_TIMEOUT_S) as answer:
            return json.loads(answer.read(_MAX_REHEARSAL_BYTES))
    except (*MALFORMED_ERRORS, OSError, RecursionError, http.client.HTTPException) as error:
        raise _no_rehearsal(address) from error


def rehearsed_account(place: JsonObject) -> Account:
    """
    Return the account of the rehearsal at *place*, as the rehearsal describes it.

    Raises:
        LookupError: If a member is missing.
        ValueError: If the rehearsal is not on this machine: it must not reach an account.
    """
    endpoint_url = str(place["endpoint_url"])
    if not _LOOPBACK_ADDRESS.fullmatch(endpoint_url):
        raise ValueError(endpoint_url)
    return Account(
        log_group=str(place["log_group"]),
        rollups_log_group=str(place["rollups_log_group"]),
        stack_name=str(place["stack_name"]),
        is_rehearsal=True,
        _region=str(place["region"]),
        _endpoint_url=endpoint_url,
    )


def _no_rehearsal(address: str) -> SourceError:
    return SourceError(
        f"No rehearsal answers at {address}. "
        "Run `make demo` in a clone of the repository and wait until it prints this address."
    )
