"""
A request on the wire: how it is written, and who signed it, when, and with which key.

JSON 1.1 is the one protocol of CloudWatch Logs: the operation is in a header, and the body of
an error has its name in `__type`. Another service behind the same port has a wire of its own
with the same three methods. Signatures are checked by botocore; an answer to a wrong one is
what the JSON services say: HTTP 400 and the name of the exception.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from proof.logs.faults import EXPIRED_KEY, MISMATCH, MISSING, UNKNOWN_KEY, ProxyPage
from proof.logs.forms import ServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    Answer = dict[str, Any] | ServiceError | ProxyPage

MOMENT = "%Y%m%dT%H%M%SZ"
TOLERANCE = timedelta(minutes=5)  # between the signer's clock and the service's
_PARTS = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/\d{8}/(?P<region>[^/]+)/[^/]+/aws4_request,"
    r" SignedHeaders=(?P<headers>[^,]+), Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class JsonWire:
    """
    The protocol of CloudWatch Logs, or of a service that differs in these words.

    Attributes:
        signing_name: The service, as a signature names it.
    """

    signing_name: str = "logs"
    content_type: str = "application/x-amz-json-1.1"
    target_prefix: str = "Logs_20140328."

    def is_of(self, headers: Mapping[str, str]) -> bool:
        """Whether a request is written so, whole and not compressed."""
        is_ours = headers.get("x-amz-target", "").startswith(self.target_prefix)
        is_json = headers.get("content-type") == self.content_type
        return is_ours and is_json and "content-encoding" not in headers

    def request_of(self, headers: Mapping[str, str], body: bytes) -> tuple[str, dict[str, Any]]:
        """What is asked for, and its members."""
        return headers["x-amz-target"].removeprefix(self.target_prefix), json.loads(body)

    def written(self, answer: Answer) -> tuple[int, str, bytes]:
        """Status, content type and body of an answer."""
        if isinstance(answer, ProxyPage):
            return answer.status, "text/html", answer.body
        if isinstance(answer, ServiceError):
            told = {"__type": answer.code, "message": answer.words}
            return answer.status, self.content_type, json.dumps(told).encode()
        return 200, self.content_type, json.dumps(answer).encode()


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
        raise ServiceError(*UNKNOWN_KEY)
    secret = keys[found["key"]]
    if secret is None:
        raise ServiceError(*EXPIRED_KEY)
    signed = {name: headers[name] for name in found["headers"].split(";")}
    request = AWSRequest("POST", f"http://{headers['host']}/", signed, body)
    request.context["timestamp"] = moment
    auth = SigV4Auth(Credentials(found["key"], secret), service, found["region"])
    text = auth.string_to_sign(request, auth.canonical_request(request))
    if auth.signature(text, request) != found["signature"]:
        raise ServiceError(*MISMATCH)
    return found["region"]
