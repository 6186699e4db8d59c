"""
A CloudWatch Logs on 127.0.0.1 that real boto3 talks to, and that fails on command.

The SDK finds it by AWS_ENDPOINT_URL_CLOUDWATCH_LOGS. What it takes and refuses
is `rules`, who may ask is `signature`, what may happen on the way is `faults`
and `connection`.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from proof.logs.connection import Port, Response
from proof.logs.faults import (
    ANSWER_LOST,
    DENIED,
    INTERNAL,
    LATE,
    LATE_S,
    RESET,
    THROTTLED,
    UNAVAILABLE,
    Fault,
    ProxyPage,
    fault_of,
)
from proof.logs.forms import ServiceError
from proof.logs.protocol import JsonWire, Wire
from proof.logs.rules import RECORDS_GROUP, LogRules
from proof.logs.signature import Signer, signer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

__all__ = [
    "ANSWER_LOST", "DENIED", "INTERNAL", "LATE", "LATE_S", "RECORDS_GROUP", "RESET",
    "THROTTLED", "UNAVAILABLE", "LogsService", "ServiceCall",
]  # fmt: skip

KEYS = {"testing": "testing"}


@dataclass(frozen=True)
class ServiceCall:
    """
    One request, and what became of it.

    Attributes:
        what: A fault, an error's name, or the operation if it was done and answered.

        at_s: When it came, by the service's clock, seconds since the epoch.

        taken: Places of its events in the rules' `applied`.

        status: HTTP; None when nothing was said.

        region: The signature is for; empty when nobody looked.
    """

    operation: str
    what: str
    at_s: float
    taken: range
    status: int | None
    region: str
    user_agent: str


@final
class LogsService:
    """
    The service, or one door to it. Used as a context; stops when the context ends.

    Several doors, each with a port and troubles of its own, may lead to the same *rules*.

    Attributes:
        rules: What it keeps.

        clock: Its time of day as its answers tell it, seconds since the epoch.

        next_faults: Happen to the next PutLogEvents calls, one each, first come first;
            an error may be one of them.

        next_create_faults: The same of CreateLogStream.

        next_faults_of: The same of any operation, by its name.

        always: What happens to every other call of an operation, by its name.

        wires: How requests are written; the first that a request is of counts.

        allow: Called with operation, request and signer before anything is done; may refuse.

        chances: Of each fault for any other PutLogEvents, from 0 to 1.

        keys: Secrets by access key; None for a key that has expired.

        signing_clock: What the moment of a signature is compared with: the machine's own
            time, by which the SDK signs, also where a test sets the time of day.

        instead: Gives what is answered when all went well, from what would be.

        before_taking: Called by each PutLogEvents before anything is decided.

        before_answering: Called when events were taken, before anything is answered.

        happened: Calls by what became of them, as in `ServiceCall.what`.

        calls: Every one of them, in order.
    """

    def __init__(
        self, clock: Callable[[], float] = time.time, seed: int = 0, rules: LogRules | None = None
    ) -> None:
        self.rules = LogRules(clock) if rules is None else rules
        self.next_faults: list[str | ServiceError] = []
        self.next_create_faults: list[str | ServiceError] = []
        self.next_faults_of: dict[str, list[str | ServiceError]] = {}
        self.always: dict[str, str | ServiceError] = {}
        self.wires: list[Wire] = [JsonWire()]
        self.allow: Callable[[str, dict[str, Any], Signer], object] = _nothing
        self.chances: Mapping[str, float] = {}
        self.keys: dict[str, str | None] = dict(KEYS)
        self.signing_clock: Callable[[], float] = time.time
        self.instead: Callable[[dict[str, Any]], dict[str, Any]] = dict
        self.before_taking: Callable[[], object] = _nothing
        self.before_answering: Callable[[], object] = _nothing
        self.happened: Counter[str] = Counter()
        self.calls: list[ServiceCall] = []
        self.clock = clock
        self._rng = random.Random(seed)
        self._choice = threading.Lock()
        self._port = Port(("127.0.0.1", 0), self._reply)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        host, port = self._port.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def variables(self) -> dict[str, str]:
        """What a process needs in its environment to talk to this service and no other."""
        return {
            "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": self.url,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-west-2",
        }

    @property
    def operations(self) -> list[str]:
        """What was asked of it, in order."""
        return [call.operation for call in self.calls]

    @property
    def is_there(self) -> bool:
        """Whether it takes connections."""
        return self._thread is not None

    def vanish(self) -> None:
        """Be gone: connections break, new ones are refused."""
        self._stop()
        address = self._port.server_address
        self._port = Port(address, self._reply)  # holds the port, and does not listen

    def come_back(self) -> None:
        """Be there again, at the same address."""
        self._port.server_activate()
        port = self._port
        self._thread = threading.Thread(target=lambda: port.serve_forever(0.01), daemon=True)
        self._thread.start()

    def __enter__(self) -> LogsService:
        self.come_back()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._thread is not None:
            self._port.shutdown()
            self._thread.join()
            self._thread = None
        self._port.server_close()
        self._port.hang_up()

    def _next_fault(self, operation: str) -> Fault | None:
        """What happens to a call; None is nothing."""
        planned = {
            "PutLogEvents": self.next_faults,
            "CreateLogStream": self.next_create_faults,
        }.get(operation) or self.next_faults_of.get(operation)
        with self._choice:
            if planned:
                return fault_of(planned.pop(0))
            if operation in self.always:
                return fault_of(self.always[operation])
            if operation == "PutLogEvents":
                drawn = self._rng.random()
                for name, chance in self.chances.items():
                    drawn -= chance
                    if drawn < 0:
                        return fault_of(name)
        return None

    def _reply(self, headers: Mapping[str, str], body: bytes) -> Response:
        """Do what was asked, or not, and say so, or not."""
        at_s = self.clock()
        wire = next(one for one in self.wires if one.is_of(headers))
        operation = wire.operation_in(headers, body)
        fault = self._next_fault(operation)
        if operation == "PutLogEvents":
            self.before_taking()
        region = ""
        taken = range(0)
        answer: dict[str, Any] | ServiceError | ProxyPage = {}
        try:
            if fault is None or fault.is_said or fault.taken:
                wire.check_form(headers)
                signer = signer_of(
                    headers, body, self.keys, self.signing_clock(), wire.signing_name
                )
                region = signer.region
            if fault is None or fault.taken:
                document = wire.document_in(body)
                self.allow(operation, document, signer)
                answer, taken = self.rules.call(operation, document)
                answer = self.instead(answer)
            if fault is not None and fault.answer is not None:
                answer = fault.answer
            what = fault.name if fault else operation
        except ServiceError as error:
            # Refused, and that is the answer; but what is lost on the way is lost.
            answer = error
            what = fault.name if fault and not fault.is_said else error.code
        is_said = fault is None or fault.is_said
        status, content_type, text = wire.written(answer)
        with self._choice:
            number = len(self.calls)
            self.happened[what] += 1
            self.calls.append(
                ServiceCall(
                    *(operation, what, at_s, taken, status if is_said else None),
                    *(region, headers.get("user-agent", "")),
                )
            )
        if taken:
            self.before_answering()
        way = fault.name if fault and (not fault.is_said or fault.answer is None) else None
        return Response(status, content_type, text, at_s, number, way)


def _nothing(*_whatever: object) -> None:
    """What is called when nobody wants to know."""
