"""
A CloudWatch Logs on 127.0.0.1 for real boto3, which fails on command.

The SDK finds it by AWS_ENDPOINT_URL_CLOUDWATCH_LOGS. `rules` has its limits, `wire` the
authentication, `faults` and `connection` the failures.
"""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proof.logs.rules import LogRules, ServiceError
from proof.logs.service_faults import Fault, ProxyPage, fault_of
from proof.logs.wire import JsonWire, Port, Response, region_signed_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self

    from proof.logs.rules import Document


@dataclass(frozen=True)
class ServiceCall:
    """
    One request and its result.

    Attributes:
        what: A fault, an error's name, or the operation if it was done and answered.

        status: The HTTP status; None without an answer.

        region: The Region of the signature; empty if it was not checked.
    """

    operation: str
    what: str
    status: int | None
    region: str
    user_agent: str


class LogsService:
    """
    The service, or one of its ports. A context manager; it stops when the context ends.

    Several ports, each with its own faults, may share the same *rules*.

    Attributes:
        rules: The rules and the stored events.

        clock: Its time of day in its answers, seconds since the epoch.

        next_faults: Faults of the next calls, in order, by the name of the operation; each is a
            fault or an error.

        always: The fault of every other call of an operation, by its name.

        wires: The protocols that it speaks; the first that fits a request handles it.

        allow: Called with operation and request before anything is done; may refuse.

        chances: Probability of each fault for any other PutLogEvents, from 0 to 1.

        keys: Secrets by access key; None for a key that has expired.

        signing_clock: The clock for signatures: the machine's own time, by which the SDK signs,
            even if a test sets the time of day.

        before_taking: Called by each PutLogEvents before any decision.

        before_answering: Called after its events were stored, before the answer.

        calls: All calls, in order.
    """

    def __init__(
        self, clock: Callable[[], float] = time.time, seed: int = 0, rules: LogRules | None = None
    ) -> None:
        self.rules = LogRules(clock) if rules is None else rules
        self.next_faults: dict[str, list[str | ServiceError]] = defaultdict(list)
        self.always: dict[str, str | ServiceError] = {}
        self.wires: list[Any] = [JsonWire()]
        self.allow: Callable[[str, Document], object] = _nothing
        self.chances: Mapping[str, float] = {}
        self.keys: dict[str, str | None] = {"testing": "testing"}
        self.signing_clock: Callable[[], float] = time.time
        self.before_taking: Callable[[], object] = _nothing
        self.before_answering: Callable[[], object] = _nothing
        self.calls: list[ServiceCall] = []
        self.clock = clock
        self._rng = random.Random(seed)
        self._choice = threading.Lock()
        self._port = Port(("127.0.0.1", 0), self._reply)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Its address."""
        host, port = self._port.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a process that talks to this service and no other."""
        return {
            "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": self.url,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-west-2",
        }

    @property
    def operations(self) -> list[str]:
        """The called operations, in order."""
        return [call.operation for call in self.calls]

    @property
    def is_there(self) -> bool:
        """True if it accepts connections."""
        return self._thread is not None

    def vanish(self) -> None:
        """Disappear: connections break, new ones are refused."""
        self._stop()
        address = self._port.server_address
        self._port = Port(address, self._reply)  # holds the port without listening

    def come_back(self) -> None:
        """Return at the same address."""
        self._port.server_activate()
        port = self._port
        self._thread = threading.Thread(target=lambda: port.serve_forever(0.01), daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        self.come_back()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._thread is not None:
            self._port.shutdown()
            self._thread.join()
            self._thread = None
        self._port.server_close()
        self._port.hang_up()

    def _next_fault(self, operation: str) -> Fault | None:
        """Return the fault of a call; None for none."""
        with self._choice:
            if self.next_faults[operation]:
                return fault_of(self.next_faults[operation].pop(0))
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
        """Answer a request, with its fault if there is one."""
        at_s = self.clock()
        wire = next(wire for wire in self.wires if wire.is_of(headers))
        operation, document = wire.request_of(headers, body)
        fault = self._next_fault(operation)
        is_said = fault is None or fault.is_said
        if operation == "PutLogEvents":
            self.before_taking()
        region = ""
        is_taken = False
        answer: Document | ServiceError | ProxyPage = {}
        what = fault.name if fault else operation
        try:
            if fault is None or fault.is_said or fault.taken:
                now_s = self.signing_clock()
                region = region_signed_for(headers, body, self.keys, now_s, wire.signing_name)
            if fault is None or fault.taken:
                self.allow(operation, document)
                answer = self.rules.call(operation, document)
                is_taken = operation == "PutLogEvents"
            if fault is not None and fault.answer is not None:
                answer = fault.answer
        except ServiceError as error:
            # The refusal is the answer, but a fault that loses the response still loses it.
            answer = error
            what = what if fault and not is_said else error.code
        if isinstance(answer, ProxyPage):
            status = answer.status
            content_type = "text/html"
            text = answer.body
        else:
            status, content_type, text = wire.written(answer)
        with self._choice:
            number = len(self.calls)
            agent = headers.get("user-agent", "")
            self.calls.append(
                ServiceCall(operation, what, status if is_said else None, region, agent)
            )
        if is_taken:
            self.before_answering()
        way = fault.name if fault and (not is_said or fault.answer is None) else None
        return Response(status, content_type, text, at_s, number, way)


def _nothing(*_whatever: object) -> None:
    """Do nothing."""
