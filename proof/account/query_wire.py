"""
The query protocol of AWS STS, and the one operation of it that an operator needs.

A request is a form, an answer XML; errors have names of their own there.
"""

from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from proof.logs.faults import ProxyPage
from proof.logs.forms import ServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

FORM = "application/x-www-form-urlencoded"
XML = "text/xml"
NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/"
REQUEST_ID = "00000000-0000-4000-8000-000000000000"
# What the JSON services say, and what STS says, with HTTP 403 where it is about the signature.
NAMES = {
    "ExpiredTokenException": ("ExpiredToken", 403),
    "UnrecognizedClientException": ("InvalidClientTokenId", 403),
    "InvalidSignatureException": ("SignatureDoesNotMatch", 403),
    "MissingAuthenticationTokenException": ("MissingAuthenticationToken", 403),
    "IncompleteSignatureException": ("IncompleteSignature", 400),
    "ThrottlingException": ("Throttling", 400),
    "ServiceUnavailableException": ("ServiceUnavailable", 503),
    "UnknownOperationException": ("InvalidAction", 400),
}


class QueryWire:
    """The protocol of STS."""

    signing_name = "sts"

    def is_of(self, headers: Mapping[str, str]) -> bool:
        return headers.get("content-type", "").partition(";")[0] == FORM

    def operation_in(self, headers: Mapping[str, str], body: bytes) -> str:  # noqa: ARG002
        return str(self.document_in(body).get("Action", ""))

    def check_form(self, headers: Mapping[str, str]) -> None:
        """Nothing more than `is_of` has seen."""

    def document_in(self, body: bytes) -> dict[str, Any]:
        return dict(urllib.parse.parse_qsl(body.decode()))

    def written(self, answer: dict[str, Any] | ServiceError | ProxyPage) -> tuple[int, str, bytes]:
        if isinstance(answer, ProxyPage):
            return answer.status, "text/html", answer.body
        if isinstance(answer, ServiceError):
            code, status = NAMES.get(answer.code, (answer.code, answer.status))
            words = f"<Code>{code}</Code><Message>{escape(answer.words)}</Message>"
            text = f"<Error><Type>Sender</Type>{words}</Error><RequestId>{REQUEST_ID}</RequestId>"
            return (
                status,
                XML,
                f'<ErrorResponse xmlns="{NAMESPACE}">{text}</ErrorResponse>'.encode(),
            )
        ((action, members),) = answer.items()
        result = "".join(f"<{name}>{escape(one)}</{name}>" for name, one in members.items())
        text = (
            f'<{action}Response xmlns="{NAMESPACE}"><{action}Result>{result}</{action}Result>'
            f"<ResponseMetadata><RequestId>{REQUEST_ID}</RequestId></ResponseMetadata>"
            f"</{action}Response>"
        )
        return 200, XML, text.encode()
