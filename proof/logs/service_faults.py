"""
What may happen to a call beside the service's own answer, and what is taken all the same.

A fault goes by its name: it is counted by it, and a chance is given to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from proof.logs.rules import ServiceError

# Nothing is taken, and the answer says so.
THROTTLED = "throttled"  # as PutLogEvents does it: HTTP 400
UNAVAILABLE = "unavailable"
INTERNAL = "internal"
DENIED_FAULT = "denied"
# Nothing is taken, and the answer looks as if it was.
SIGN_IN = "sign in"  # a page of a proxy's, with HTTP 200
# Nothing is taken, and nothing is said.
RESET = "reset"
UNHEARD = "unheard"  # until the client gives up
# Taken, and the answer does not say so.
ANSWER_LOST = "answer lost"  # by a reset
GATEWAY_TIMEOUT = "gateway timeout"  # a page of a proxy's
NEVER_ANSWERED = "never answered"  # until the client gives up
CUT = "cut"  # half of the answer, then the connection ends
GARBLED = "garbled"  # half of the answer, as if it were all of it

# Names and words; a new error is made of them each time.
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
    """What a machine between client and service says."""

    status: int
    title: str

    @property
    def body(self) -> bytes:
        """In HTML, for people."""
        return f"<html><body><h1>{self.status} {self.title}</h1></body></html>\r\n".encode()


@dataclass(frozen=True)
class Fault:
    """
    One way to fail.

    Attributes:
        taken: Whether the service does what it was asked.

        answer: Comes instead of the service's; None leaves it.

        is_said: Whether the answer reaches the client, at least in part.
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
    """The fault of this name; an error is one too, that takes nothing and is answered."""
    return _BY_NAME[given] if isinstance(given, str) else Fault(given.code, answer=given)
