"""
Who signed a request, when, and whether with the right key.

Signature Version 4 as its description has it, without the SDK that signed:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
An answer is what the JSON services say: HTTP 400 and the name of the exception.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from proof.logs.forms import ServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

ALGORITHM = "AWS4-HMAC-SHA256"
MOMENT = "%Y%m%dT%H%M%SZ"
TOLERANCE = timedelta(minutes=5)  # between the signer's clock and the service's

# Names and words; a new error is made of them each time.
MISSING = ("MissingAuthenticationTokenException", "Missing Authentication Token")
UNRECOGNIZED = (
    "UnrecognizedClientException",
    "The security token included in the request is invalid.",
)
EXPIRED = ("ExpiredTokenException", "The security token included in the request is expired")
MISMATCH = (
    "InvalidSignatureException",
    (
        "The request signature we calculated does not match the signature you provided. Check your"
        " AWS Secret Access Key and signing method. Consult the service documentation for details."
    ),
)
INCOMPLETE = (
    "IncompleteSignatureException",
    (
        "Authorization header requires 'Credential' parameter, 'Signature' parameter and"
        " 'SignedHeaders' parameter of every header that the service reads."
    ),
)
_PARTS = re.compile(
    rf"{ALGORITHM} Credential=(?P<key>[^/]+)/(?P<day>\d{{8}})/(?P<region>[^/]+)/(?P<service>[^/]+)"
    r"/aws4_request, SignedHeaders=(?P<headers>[^,]+), Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class Signer:
    """Who signed: the access key, and the region that the signature is for."""

    access_key: str
    region: str


def signer_of(
    headers: Mapping[str, str],
    body: bytes,
    keys: Mapping[str, str | None],
    now_s: float,
    service: str = "logs",
) -> Signer:
    """
    Check a POST to `/`.

    *headers* are named in small letters; *keys* are secrets by access key, None
    for one that has expired; *now_s* is the service's time, s since the epoch;
    *service* is the name that a signature for it has.

    Raises:
        ServiceError: If it was not signed by one of *keys*, now, and as it came.
    """
    if "authorization" not in headers:
        raise ServiceError(*MISSING)
    found = _PARTS.fullmatch(headers["authorization"])
    if found is None:
        raise ServiceError(*INCOMPLETE)
    signed = found["headers"].split(";")
    if not _must_be_signed(headers) <= set(signed) <= headers.keys():
        raise ServiceError(*INCOMPLETE)
    moment = headers["x-amz-date"]
    _check_moment(moment, datetime.fromtimestamp(now_s, timezone.utc))
    if found["key"] not in keys:
        raise ServiceError(*UNRECOGNIZED)
    secret = keys[found["key"]]
    if secret is None:
        raise ServiceError(*EXPIRED)
    scope = f"{found['day']}/{found['region']}/{found['service']}/aws4_request"
    canonical = "\n".join(
        [
            *("POST", "/", ""),
            *(f"{name}:{' '.join(headers[name].split())}" for name in signed),
            *("", found["headers"], hashlib.sha256(body).hexdigest()),
        ]
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    expected = _signature(secret, scope, f"{ALGORITHM}\n{moment}\n{scope}\n{digest}")
    is_for_us = found["service"] == service and moment.startswith(found["day"])
    if not is_for_us or not hmac.compare_digest(expected, found["signature"]):
        raise ServiceError(*MISMATCH)
    return Signer(found["key"], found["region"])


def _must_be_signed(headers: Mapping[str, str]) -> set[str]:
    return {"host", "x-amz-date", *(name for name in headers if name.startswith("x-amz-"))}


def _check_moment(moment: str, now: datetime) -> None:
    try:
        signed_at = datetime.strptime(moment, MOMENT).replace(tzinfo=timezone.utc)
    except ValueError:
        raise ServiceError(*INCOMPLETE) from None
    now = now.replace(microsecond=0)
    here = f"{now:{MOMENT}}"
    words = None
    if signed_at < now - TOLERANCE:
        words = f"Signature expired: {moment} is now earlier than {now - TOLERANCE:{MOMENT}}"
        words += f" ({here} - 5 min.)"
    elif signed_at > now + TOLERANCE:
        words = f"Signature not yet current: {moment} is still later than"
        words += f" {now + TOLERANCE:{MOMENT}} ({here} + 5 min.)"
    if words:
        raise ServiceError(MISMATCH[0], words)


def _signature(secret: str, scope: str, text: str) -> str:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = _hmac(key, part)
    return _hmac(key, text).hex()


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
