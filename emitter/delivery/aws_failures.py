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
        return Retry("throttled", "CloudWatch Logs is throttling requests.")
    if code in _PASSING or status >= _SERVER_ERROR:
        return Retry("service", f"CloudWatch Logs returned a server error ({code}).")
    if failure.operation not in OPERATIONS:
        # Asked by the SDK on its way to credentials, such as AssumeRoleWithWebIdentity.
        return Refused(
            "credentials",
            f"Cannot get AWS credentials: {failure.operation} failed with {code} "
            f"({bounded(failure.message)}). Let this instance or pod assume the role.",
        )
    if code == NOT_FOUND and failure.operation == "PutLogEvents":
        return Retry("stream_not_ready", "The new log stream is not available yet.")
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
        f"Cannot reach CloudWatch Logs{where} ({words}).",
        f"Allow this machine to reach {host} on port {port} (a route, a VPC "
        "endpoint or HTTPS_PROXY), or correct the region.",
    )


def sdk_outcome(kinds: AbstractSet[str], words: str) -> Outcome:
    """
    What an error of the SDK itself means: no answer of the service was read.

    *kinds* are the names of its class and of all that is above it.
    """
    plain = bounded(words)
    outcome: Outcome
    if "NoRegionError" in kinds:
        outcome = Refused("no_region", "No AWS region is set. Use --region or AWS_DEFAULT_REGION.")
    elif kinds & _SDK_CREDENTIALS:
        outcome = Refused(
            "credentials",
            f"No AWS credentials found ({plain}). Attach the stack's emitter policy "
            "to the instance role, or set AWS_PROFILE.",
        )
    elif "ParamValidationError" in kinds:
        outcome = Invalid(plain)
    elif kinds & SDK_NOT_SENT:
        outcome = Retry("no_connection", " ".join(unreachable(plain)))
    elif "ReadTimeoutError" in kinds:
        outcome = Retry("timeout", f"CloudWatch Logs did not respond ({plain}).")
    elif kinds & _SDK_LOST:
        outcome = Retry(
            "connection_lost", f"The response of CloudWatch Logs was cut off ({plain})."
        )
    else:
        outcome = Refused("client", f"Cannot use the AWS client as configured: {plain}.")
    return outcome


def _refused(failure: Failure, *, group: str, region: str) -> Refused:
    code, words = failure.code, bounded(failure.message)
    if code == NOT_FOUND:
        return Refused(
            "no_log_group",
            f"Log group {group} does not exist in {region}. Deploy the stack there, "
            "or use --log-group and --region.",
        )
    if code in _CREDENTIALS:
        return Refused(
            "credentials",
            f"AWS rejected the credentials in {region} ({code}). Renew them, or "
            "attach the stack's emitter policy to the instance role.",
        )
    if code in _SIGNATURE:
        return Refused(
            "signature",
            f"AWS rejected the request signature in {region} ({code}). Correct this "
            "machine's clock or the secret access key.",
        )
    if code in _ACCESS:
        return Refused(
            "access",
            f"Access denied to logs:{failure.operation} on log group {group} in "
            f"{region} ({words}). Attach the stack's emitter policy to the role.",
        )
    return Refused(
        "refused",
        f"CloudWatch Logs in {region} rejected logs:{failure.operation} on log "
        f"group {group} with {code}: {words}",
    )
