"""
Faults of a call: the answer in place of the service's, and whether its events are stored.

A fault has a name, under which it is counted and given a probability.
"""

from __future__ import annotations

from dataclasses import dataclass

from proof.logs.rules import ServiceError

# Nothing is stored, and the answer shows it.
THROTTLED = "throttled"  # as PutLogEvents does: HTTP 400
UNAVAILABLE = "unavailable"
INTERNAL = "internal"
DENIED_FAULT = "denied"
# Nothing is stored, and the answer looks like a success.
SIGN_IN = "sign in"  # a proxy's page, with HTTP 200
# Nothing is stored, and there is no answer.
RESET = "reset"
UNHEARD = "unheard"  # until the client gives up
# Stored, and the answer does not show it.
ANSWER_LOST = "answer lost"  # by a reset
GATEWAY_TIMEOUT = "gateway timeout"  # a proxy's page
NEVER_ANSWERED = "never answered"  # until the client gives up
CUT = "cut"  # half of the answer, then the connection ends
GARBLED = "garbled"  # half of the answer, as if it were complete

# Names and messages, from which each error is made when it is needed.
MISSING_TOKEN = ("MissingAuthenticationTokenException", "Missing Authentication Token")
UNKNOWN_KEY = (
    "UnrecognizedClientException",
    "The security token included in the request is invalid.",
)
NOT_ALLOWED = (
    "AccessDeniedException",
    "User: arn:aws:iam::123456789012:user/testing is not authorized to perform: logs:PutLogEvents",
)
EXPIRED_KEY = ("ExpiredTokenException", "The security token included in the request is expired")
MISMATCH = (
    "InvalidSignatureException",
    (
        "The request signature we calculated does not match the signature you provided. Check your"
        " AWS Secret Access Key and signing method. Consult the service documentation for details."
    ),
)


@dataclass(frozen=True)
class ProxyPage:
    """The page of a machine between client and service."""

    status: int
    title: str

    @property
    def body(self) -> bytes:
        """Return the page as HTML."""
        return f"<html><body><h1>{self.status} {self.title}</h1></body></html>\r\n".encode()


@dataclass(frozen=True)
class Fault:
    """
    One way to fail.

    Attributes:
        taken: True if the service does the operation.

        answer: Replaces the service's answer; None keeps it.

        is_said: True if the client gets at least a part of the answer.
    """

    name: str
    taken: bool = False
    answer: ServiceError | ProxyPage | None = None
    is_said: bool = True


_ALL_FAULTS = (
    Fault(THROTTLED, answer=ServiceError("ThrottlingException", "Rate exceeded")),
    Fault(UNAVAILABLE, answer=ServiceError("ServiceUnavailableException", "Not now.", 503)),
    Fault(INTERNAL, answer=ServiceError("InternalFailure", "An unknown error has occurred.", 500)),
    Fault(DENIED_FAULT, answer=ServiceError(*NOT_ALLOWED)),
    Fault(SIGN_IN, answer=ProxyPage(200, "Sign in")),
    Fault(RESET, is_said=False),
    Fault(UNHEARD, is_said=False),
    Fault(ANSWER_LOST, taken=True, is_said=False),
    Fault(GATEWAY_TIMEOUT, taken=True, answer=ProxyPage(504, "Gateway Time-out")),
    Fault(NEVER_ANSWERED, taken=True, is_said=False),
    Fault(CUT, taken=True),
    Fault(GARBLED, taken=True),
)
_BY_NAME = {fault.name: fault for fault in _ALL_FAULTS}


def fault_of(given: str | ServiceError) -> Fault:
    """Return the fault with this name; an error is a fault that stores nothing and is answered."""
    return _BY_NAME[given] if isinstance(given, str) else Fault(given.code, answer=given)
