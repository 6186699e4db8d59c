"""
Who signed a request, when, and whether with the right key: Signature Version 4, by botocore.

An answer is what the JSON services say: HTTP 400 and the name of the exception.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from proof.logs.forms import ServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
_PARTS = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/\d{8}/(?P<region>[^/]+)/[^/]+/aws4_request,"
    r" SignedHeaders=(?P<headers>[^,]+), Signature=(?P<signature>[0-9a-f]{64})"
)


def region_signed_for(
    headers: Mapping[str, str],
    body: bytes,
    keys: Mapping[str, str | None],
    now_s: float,
    service: str,
) -> str:
    """
    Check a POST to `/`; the region that its signature is for.

    *headers* are named in small letters; *keys* are secrets by access key, None
    for one that has expired; *now_s* is the service's time, s since the epoch;
    *service* is the name that a signature for it has.

    Raises:
        ServiceError: If it was not signed by one of *keys*, now, and as it came.
    """
    found = _PARTS.fullmatch(headers.get("authorization", ""))
    if found is None:
        raise ServiceError(*MISSING)
    moment, now = headers["x-amz-date"], datetime.fromtimestamp(now_s, timezone.utc)
    signed_at = datetime.strptime(moment, MOMENT).replace(tzinfo=timezone.utc)
    if abs(signed_at - now) > TOLERANCE:
        words = f"Signature expired: {moment} is more than 5 min. from {now:{MOMENT}}"
        raise ServiceError(MISMATCH[0], words)
    if found["key"] not in keys:
        raise ServiceError(*UNRECOGNIZED)
    secret = keys[found["key"]]
    if secret is None:
        raise ServiceError(*EXPIRED)
    signed = {name: headers[name] for name in found["headers"].split(";")}
    request = AWSRequest("POST", f"http://{headers['host']}/", signed, body)
    request.context["timestamp"] = moment
    auth = SigV4Auth(Credentials(found["key"], secret), service, found["region"])
    text = auth.string_to_sign(request, auth.canonical_request(request))
    if auth.signature(text, request) != found["signature"]:
        raise ServiceError(*MISMATCH)
    return found["region"]
