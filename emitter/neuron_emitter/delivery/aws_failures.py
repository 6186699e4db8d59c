"""
Classify a failed CloudWatch Logs call: its outcome for the records, and its sentence for people.

Pure, and without the AWS SDK: it maps error codes and words to an outcome. The codes are those of
the API's common errors and of its model, and those that services send:

https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/CommonErrors.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from re import DOTALL, IGNORECASE
from typing import TYPE_CHECKING, Final

from neuron_emitter.delivery.destination import Invalid, Outcome, Refused, Retry
from neuron_emitter.delivery.sdk_models import OPERATIONS
from neuron_wire.names import AWS_REGION

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

NOT_FOUND: Final = "ResourceNotFoundException"
ALREADY_EXISTS: Final = "ResourceAlreadyExistsException"

_CODES: Final = {
    # PutLogEvents sends ThrottlingException with HTTP 400.
    "throttled": """
        BandwidthLimitExceeded EC2ThrottledException LimitExceededException PriorRequestNotComplete
        ProvisionedThroughputExceededException RequestLimitExceeded RequestThrottled
        RequestThrottledException SlowDown ThrottledException Throttling ThrottlingException
        TooManyRequestsException
    """,
    # OperationAborted: another instance is creating a stream.
    "service": """
        InternalFailure InternalError InternalServerError OperationAbortedException RequestTimeout
        RequestTimeoutException ServiceUnavailable ServiceUnavailableException
    """,
    "expired": "ExpiredToken ExpiredTokenException TokenRefreshRequired",
    "credentials": """
        AuthFailure InvalidAccessKeyId InvalidClientTokenId InvalidToken MissingAuthenticationToken
        MissingAuthenticationTokenException UnrecognizedClientException
    """,
    # RequestExpired: EC2 also uses it for expired credentials.
    "signature": """
        IncompleteSignature IncompleteSignatureException InvalidSignatureException RequestExpired
        RequestTimeTooSkewed SignatureDoesNotMatch
    """,
    "access": """
        AccessDenied AccessDeniedException AuthorizationError Forbidden KMSAccessDeniedException
        NotAuthorized OptInRequired UnauthorizedException UnauthorizedOperation
    """,
    "missing": f"{NOT_FOUND} NoSuchBucket",
    "invalid": """
        InvalidParameter InvalidParameterException InvalidParameterValue NoSuchEntity
        RequestEntityTooLarge SerializationException ValidationError ValidationException
    """,
}
# Class names of the SDK's own errors; they differ between its versions.
_SDK_KINDS: Final = {
    "no_region": "NoRegionError",
    "expired": "LoginRefreshRequired SSOTokenLoadError UnauthorizedSSOTokenError",
    "credentials": """
        CredentialRetrievalError InfiniteLoopConfigError LoginError MetadataRetrievalError
        NoAuthTokenError NoCredentialsError PartialCredentialsError ProfileNotFound
        RefreshWithMFAUnsupportedError SSOError TokenRetrievalError UnknownCredentialError
        UnknownTokenProviderError
    """,
    "proxy": "ProxyConnectionError",  # also a proxy that opens no tunnel
    "no_connection": "ConnectTimeoutError ConnectionError EndpointConnectionError SSLError",
    "timeout": "ReadTimeoutError",
    # The response was incomplete, or not from AWS.
    "connection_lost": """
        ChecksumError FlexibleChecksumError HTTPClientError IncompleteReadError PaginationError
        ResponseParserError UnreadableResponseError
    """,
}

_SHOWN_PARAMETERS: Final = ("logGroupName", "logStreamName")

_FROM_A_PROXY: Final = frozenset({"403", "407"})  # an HTTP status in the place of AWS's error name
_NO_BODY: Final = "Head"  # S3 answers HEAD without an error code

MAX_AWS_MESSAGE_CHARS: Final = 300
_LAST_WORDS: Final = 100  # AWS names the denying policy at the end
_ENDPOINT_HOST: Final = re.compile(r"https?://([^/:\"'\s]+)(?::(\d+))?")
_REGION_IN_HOST: Final = re.compile(rf"\.({AWS_REGION.pattern})\.")
_HTTPS: Final = "443"
# A validation message first names the member and quotes its whole value.
_QUOTED_VALUE: Final = re.compile(r"value '.*' at '", IGNORECASE | DOTALL)


@dataclass(frozen=True, slots=True)
class Failure:
    """
    An error response.

    Attributes:
        operation: The call, such as `PutLogEvents`.

        code: The error's name; the HTTP status as text if there is no name.

        status: The HTTP status.

        message: The service's message. It may quote the payload.
    """

    operation: str
    code: str
    status: int
    message: str


def bounded(words: str) -> str:
    """Return the service's message on one line, shortened and without quoted values."""
    plain = " ".join(_QUOTED_VALUE.sub("value at '", words).split())
    if len(plain) <= MAX_AWS_MESSAGE_CHARS:
        return plain
    return f"{plain[: MAX_AWS_MESSAGE_CHARS - _LAST_WORDS]}...{plain[-_LAST_WORDS:]}"


def cause_of(code: str, status: int = 0, operation: str = "") -> str:
    """
    Return why AWS refused *operation*, by the error *code*.

    The result is one of `_CODES`, `proxy` for a response that is not from AWS, or empty if unknown.
    """
    if code in _FROM_A_PROXY:
        return "access" if operation.startswith(_NO_BODY) else "proxy"
    if status == 429:
        return "throttled"
    if status >= 500 and code not in _CODES["throttled"].split():
        return "service"
    return next((cause for cause, codes in _CODES.items() if code in codes.split()), "")


# Pairs of AWS's words and the advice; the first match counts. From
# https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
_DENIED_BY: Final = tuple(
    (re.compile(words, IGNORECASE), advice)
    for words, advice in (
        (
            r"(?:service|resource) control polic",
            "Ask the administrator of your AWS organization to allow it.",
        ),
        (r"endpoint polic", "Allow it in the policy of the VPC endpoint."),
        (r"permissions boundary", "Allow it in the permissions boundary of the role."),
        (r"session polic", "Allow it in the session policy of these credentials."),
        (
            r"explicit deny in an identity-based polic",
            "Remove the explicit deny from the policies of the role.",
        ),
        (r"identity-based polic", ""),
        (
            r"kms|customer master key",
            "Check that the KMS key is enabled and that its policy allows the service to use it.",
        ),
        (r"resource-based polic", "Allow it in the policy of the resource."),
    )
)


def access_advice(words: str, otherwise: str) -> str:
    """Return the advice for AWS's *words* about a denied call; *otherwise* if none fits."""
    return next((advice for cause, advice in _DENIED_BY if cause.search(words)), "") or otherwise


def sdk_cause(kinds: AbstractSet[str]) -> str:
    """
    Return why the SDK itself failed without a complete response.

    *kinds* are the names of the error's class and of its superclasses. The result is one of
    `_SDK_KINDS`, or `client` for a fault on this machine.
    """
    return next(
        (cause for cause, known in _SDK_KINDS.items() if not kinds.isdisjoint(known.split())),
        "client",
    )


def outcome_of(failure: Failure, *, group: str, region: str) -> Outcome:
    """Return the outcome of *failure*. An unknown failure keeps the records and is reported."""
    code = failure.code
    cause = cause_of(code, failure.status, failure.operation)
    if cause == "throttled":
        return Retry("throttled", "CloudWatch Logs is throttling requests.")
    if cause == "service":
        who = "A proxy or CloudWatch Logs" if code.isdigit() else "CloudWatch Logs"
        return Retry("service", f"{who} returned a server error ({code}).")
    if failure.operation not in OPERATIONS and cause != "proxy":
        # The SDK called another service for credentials, such as AssumeRoleWithWebIdentity.
        return Refused(
            "credentials",
            f"Cannot get AWS credentials: {failure.operation} failed with {code} "
            f"({bounded(failure.message)}). Let this instance or pod assume the role.",
        )
    if cause == "missing" and failure.operation == "PutLogEvents":
        return Retry("stream_not_ready", "The new log stream is not available yet.")
    if cause == "invalid" or failure.status == 413:
        words = bounded(failure.message)
        if not any(name in words for name in _SHOWN_PARAMETERS):
            return Invalid(words)
    return _refused(failure, cause, group=group, region=region)


def unreachable(words: str, region: str = "", service: str = "CloudWatch Logs") -> tuple[str, str]:
    """
    Return the cause of a failed connection, and the advice.

    The SDK's *words* name the endpoint, which may be in a Region that does not exist.
    """
    endpoint = _ENDPOINT_HOST.search(words)
    host = f"logs.{region}.amazonaws.com"
    port = _HTTPS
    where = f" in {region}" if region else ""
    if endpoint is not None and not region:
        host = endpoint[1]
        port = endpoint[2] or _HTTPS
        named = _REGION_IN_HOST.search(host)
        where = f" in {named[1]}" if named else f" at {host}"
    advice = (
        f"Allow this machine to reach {host} on port {port} (a route, a VPC "
        "endpoint or HTTPS_PROXY), or correct the region."
    )
    return f"Cannot reach {service}{where} ({words}).", advice


PROXY_ADVICE: Final = (
    "Correct HTTPS_PROXY, its credentials or the rules of the proxy, or name the service in "
    "NO_PROXY."
)
_BY_A_PROXY: Final = f"A proxy did not pass a request to AWS ({{words}}). {PROXY_ADVICE}"


# The sentence for each cause that `sdk_cause` returns.
_SDK_SENTENCES: Final = {
    "no_region": "No AWS Region is set. Use --region or AWS_REGION.",
    "credentials": "No AWS credentials found ({words}). Attach the stack's emitter policy to the "
    "instance role, or set AWS_PROFILE.",
    "expired": "The AWS credentials expired ({words}). Renew them.",
    "client": "Cannot use the AWS client as configured: {words}.",
    "proxy": _BY_A_PROXY,
    "timeout": "CloudWatch Logs did not respond ({words}).",
    "connection_lost": "The response of CloudWatch Logs was cut off ({words}).",
}


def sdk_outcome(kinds: AbstractSet[str], words: str) -> Outcome:
    """Return the outcome of an error of the SDK itself, with *kinds* as for `sdk_cause`."""
    plain = bounded(words)
    cause = sdk_cause(kinds)
    if "ParamValidationError" in kinds:
        return Invalid(plain)
    if cause == "no_connection":
        return Retry(cause, " ".join(unreachable(plain)))
    reason = "credentials" if cause == "expired" else cause
    problem = Retry if reason in {"proxy", "timeout", "connection_lost"} else Refused
    return problem(reason, _SDK_SENTENCES[cause].format(words=plain))


# The sentence for each reason of a refusal.
_FAILURE_SENTENCES: Final = {
    "no_log_group": "Log group {group} does not exist in {region}. Deploy the stack there, or "
    "use --log-group and --region.",
    "credentials": "AWS rejected the credentials in {region} ({code}). Renew them, or attach the "
    "stack's emitter policy to the instance role.",
    "signature": "AWS rejected the request signature in {region} ({code}). Correct this "
    "machine's clock or the secret access key.",
    "access": "Access denied to logs:{operation} on log group {group} in {region} ({words}). "
    "{advice}",
    "proxy": _BY_A_PROXY.format(words="HTTP {code} to {operation}"),
    "refused": "CloudWatch Logs in {region} rejected logs:{operation} on log group {group} with "
    "{code}: {words}",
}


def _refused(failure: Failure, cause: str, *, group: str, region: str) -> Refused:
    found = {"missing": "no_log_group", "expired": "credentials"}.get(cause, cause)
    reason = found if found in _FAILURE_SENTENCES else "refused"
    members = {"operation": failure.operation, "code": failure.code, "region": region}
    words = bounded(failure.message)
    advice = access_advice(
        f"{failure.code} {failure.message}", "Attach the stack's emitter policy to the role."
    )
    sentence = _FAILURE_SENTENCES[reason].format(group=group, words=words, advice=advice, **members)
    return Refused(reason, sentence)
