"""
What a failed CloudWatch Logs call means for the records, and the sentence for people.

Pure, and without the AWS SDK: codes and words in, outcome out. Codes from the
API's common errors and its model, and as services really send them:
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/CommonErrors.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from emitter.delivery.destination import Invalid, Outcome, Refused, Retry

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

NOT_FOUND: Final = "ResourceNotFoundException"
ALREADY_EXISTS: Final = "ResourceAlreadyExistsException"

# ThrottlingException comes with HTTP 400, from PutLogEvents.
_THROTTLED: Final = frozenset({
    "LimitExceededException", "RequestLimitExceeded", "RequestThrottled",
    "RequestThrottledException", "SlowDown", "ThrottledException", "Throttling",
    "ThrottlingException", "TooManyRequestsException",
})  # fmt: skip
# OperationAborted: another instance makes a stream right now.
_PASSING: Final = frozenset({
    "InternalFailure", "InternalError", "InternalServerError", "OperationAbortedException",
    "RequestTimeout", "RequestTimeoutException", "ServiceUnavailable",
    "ServiceUnavailableException",
})  # fmt: skip
_CREDENTIALS: Final = frozenset({
    "AuthFailure", "ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId",
    "InvalidClientTokenId", "InvalidToken", "MissingAuthenticationToken",
    "MissingAuthenticationTokenException", "TokenRefreshRequired", "UnrecognizedClientException",
})  # fmt: skip
_SIGNATURE: Final = frozenset({
    "IncompleteSignature", "IncompleteSignatureException", "InvalidSignatureException",
    "RequestExpired", "RequestTimeTooSkewed", "SignatureDoesNotMatch",
})  # fmt: skip
_ACCESS: Final = frozenset({
    "AccessDenied", "AccessDeniedException", "NotAuthorized", "OptInRequired",
    "UnauthorizedOperation",
})  # fmt: skip
_INVALID: Final = frozenset({
    "InvalidParameter", "InvalidParameterException", "InvalidParameterValue",
    "RequestEntityTooLarge", "SerializationException", "ValidationError", "ValidationException",
})  # fmt: skip
# The SDK's own errors, by the names of their classes: they differ between its versions.
_SDK_CREDENTIALS: Final = frozenset({
    "CredentialRetrievalError", "LoginError", "NoAuthTokenError", "NoCredentialsError",
    "PartialCredentialsError", "ProfileNotFound", "SSOError", "TokenRetrievalError",
})  # fmt: skip
SDK_NOT_SENT: Final = frozenset(
    {"ConnectTimeoutError", "EndpointConnectionError", "ProxyConnectionError", "SSLError"}
)
_SDK_LOST: Final = frozenset({"HTTPClientError", "ResponseParserError"})

OPERATIONS: Final = frozenset({"CreateLogStream", "PutLogEvents"})
_NAMES: Final = ("logGroupName", "logStreamName")
_TOO_MANY_REQUESTS: Final = 429
_TOO_LARGE: Final = 413
_SERVER_ERROR: Final = 500

MAX_WORDS: Final = 300
_ENDPOINT: Final = re.compile(r"https?://([^/:\"'\s]+)(?::(\d+))?")
_HTTPS: Final = "443"
# A validation message names the member and quotes all of its value first.
_QUOTED_VALUE: Final = re.compile(r"value '.*' at '", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Failure:
    """
    An error answer.

    Attributes:
        operation: The call, such as `PutLogEvents`.

        code: The error's name; the HTTP status as text when it had none.

        status: The HTTP status.

        message: The service's words. They may quote the payload.
    """

    operation: str
    code: str
    status: int
    message: str


def bounded(words: str) -> str:
    """The service's words on one line, without values it quotes, and not too many."""
    plain = " ".join(_QUOTED_VALUE.sub("value at '", words).split())
    return plain if len(plain) <= MAX_WORDS else f"{plain[:MAX_WORDS]}..."


def outcome_of(failure: Failure, *, group: str, region: str) -> Outcome:
    """What *failure* means. Whatever is unknown keeps the records and is said aloud."""
    code, status = failure.code, failure.status
    if code in _THROTTLED or status == _TOO_MANY_REQUESTS:
        return Retry("throttled", "CloudWatch Logs asks to slow down")
    if code in _PASSING or status >= _SERVER_ERROR:
        return Retry("service", f"CloudWatch Logs has a problem of its own ({code})")
    if failure.operation not in OPERATIONS:
        # Asked by the SDK on its way to credentials, such as AssumeRoleWithWebIdentity.
        return Refused(
            "credentials",
            f"AWS gave no credentials: {failure.operation} was answered with {code}"
            f" ({bounded(failure.message)}): let the role be assumed by this instance or pod",
        )
    if code == NOT_FOUND and failure.operation == "PutLogEvents":
        return Retry("stream_not_ready", "the log stream that was just made is not there yet")
    if code in _INVALID or status == _TOO_LARGE:
        words = bounded(failure.message)
        if not any(name in words for name in _NAMES):
            return Invalid(words)
    return _refused(failure, group=group, region=region)


class Unreachable(NamedTuple):
    """That no connection came about, and what to do."""

    found: str
    advice: str


def unreachable(words: str, region: str = "") -> Unreachable:
    """What the SDK's *words* mean, which name the endpoint; it may be one of no region there is."""
    endpoint = _ENDPOINT.search(words)
    host, port = f"logs.{region}.amazonaws.com", _HTTPS
    where = f" in {region}" if region else ""
    if endpoint is not None and not region:
        host, port = endpoint[1], endpoint[2] or _HTTPS
        labels = host.split(".")
        where = f" in {labels[1]}" if "amazonaws" in labels[2:] else f" at {host}"
    return Unreachable(
        f"CloudWatch Logs{where} cannot be reached: {words}",
        f"let this machine reach {host} at port {port}: a route, an endpoint of its VPC, or "
        "HTTPS_PROXY; or correct the region",
    )


def sdk_outcome(kinds: AbstractSet[str], words: str) -> Outcome:
    """
    What an error of the SDK itself means: no answer of the service was read.

    *kinds* are the names of its class and of all that is above it.
    """
    plain = bounded(words)
    outcome: Outcome
    if "NoRegionError" in kinds:
        outcome = Refused(
            "no_region", "no AWS region is set: pass --region, or set AWS_DEFAULT_REGION"
        )
    elif kinds & _SDK_CREDENTIALS:
        outcome = Refused(
            "credentials",
            f"no usable AWS credentials were found ({plain}): give the instance a role with"
            " the stack's emitter policy, or set AWS_PROFILE",
        )
    elif "ParamValidationError" in kinds:
        outcome = Invalid(plain)
    elif kinds & SDK_NOT_SENT:
        outcome = Retry("no_connection", "; ".join(unreachable(plain)))
    elif "ReadTimeoutError" in kinds:
        outcome = Retry("timeout", f"CloudWatch Logs did not answer ({plain})")
    elif kinds & _SDK_LOST:
        outcome = Retry("connection_lost", f"CloudWatch Logs did not answer in full ({plain})")
    else:
        outcome = Refused("client", f"the AWS client cannot be used as it is set up: {plain}")
    return outcome


def _refused(failure: Failure, *, group: str, region: str) -> Refused:
    code, words = failure.code, bounded(failure.message)
    if code == NOT_FOUND:
        return Refused(
            "no_log_group",
            f"there is no log group {group} in {region}: deploy the stack there,"
            " or pass --log-group and --region of one that exists",
        )
    if code in _CREDENTIALS:
        return Refused(
            "credentials",
            f"AWS in {region} does not accept the credentials ({code}): renew them,"
            " or give the instance a role with the stack's emitter policy",
        )
    if code in _SIGNATURE:
        return Refused(
            "signature",
            f"AWS in {region} does not accept the signature ({code}):"
            " set the clock of this machine right, or the secret access key",
        )
    if code in _ACCESS:
        return Refused(
            "access",
            f"the credentials may not call logs:{failure.operation} on log group {group} in"
            f" {region}: attach the stack's emitter policy to their role ({words})",
        )
    return Refused(
        "refused",
        f"CloudWatch Logs in {region} refused logs:{failure.operation} on log group {group}"
        f" with {code}: {words}",
    )
