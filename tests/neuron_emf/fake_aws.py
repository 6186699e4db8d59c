"""An account with one answer per operation; requests and answers have botocore's own form."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import botocore.session
from botocore.exceptions import ClientError
from botocore.validate import ParamValidator

from neuron_emf.account import account
from neuron_emf.check.aws_client import Answer, AwsClient
from neuron_emf.command_options import AccountSettings
from proof.logs.rules import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.account.account_double import AccountDouble


@functools.cache
def model_of(service: str) -> Any:
    """Return botocore's model of a service; the model of EC2 takes a second to read."""
    return botocore.session.get_session().get_service_model(service)


class FakeAws(AwsClient):
    """
    A client whose *answers* are known, by operation or by `service.operation`.

    Attributes:
        asked: Actions, in order.
    """

    def __init__(self, answers: dict[str, Any], region: str = "us-west-2") -> None:
        super().__init__(account(AccountSettings(region=region)))
        self.answers = answers
        self.asked: list[str] = []

    def ask(self, service: str, operation: str, **asked: object) -> Answer:
        name = "".join(word.title() for word in operation.split("_"))
        self.asked.append(f"{service}:{name}")
        answer = self.answers.get(f"{service}.{operation}") or self.answers[operation]
        if callable(answer):
            answer = answer(**asked)
        if not isinstance(answer, Answer):
            answer = Answer(f"{service}:{name}", answer)
        model = model_of(service).operation_model(name)
        shapes: list[tuple[Any, Any]] = [(model.input_shape, asked)]
        if answer.response:  # otherwise a refusal, or the empty answer of a proxy
            shapes.append((model.output_shape, answer.response))
        for shape, value in shapes:
            report = ParamValidator().validate(value, shape)
            assert not report.has_errors(), report.generate_report()
        return answer


class StackClient:
    """A client of CloudFormation that knows the stack `neuron-emf` by its *outputs*."""

    def __init__(self, **outputs: str) -> None:
        self._outputs = outputs

    def describe_stacks(self, StackName: str) -> dict[str, Any]:  # noqa: N803 - the API's own name
        if StackName != "neuron-emf":
            error = {"Code": "ValidationError", "Message": f"Stack {StackName} does not exist"}
            raise ClientError({"Error": error}, "DescribeStacks")
        rows = [{"OutputKey": key, "OutputValue": value} for key, value in self._outputs.items()]
        return {"Stacks": [{"Outputs": rows}]}


class LogsClient:
    """
    A client of the double of CloudWatch Logs in this process.

    Attributes:
        answer: Answer to a request in place of the double's own; None for the double's own.

        asked: Requests in order.

        now_s: The clock of the double, seconds since the Unix epoch.
    """

    def __init__(self, account: AccountDouble) -> None:
        self.account = account
        self.answer: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda _: None
        self.asked: list[dict[str, Any]] = []
        self.now_s = 0.0

    def filter_log_events(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        try:
            return self.answer(request) or self.account.rules.call("FilterLogEvents", request)
        except ServiceError as error:
            answer = {"Error": {"Code": error.code, "Message": error.words}}
            raise ClientError(answer, "FilterLogEvents") from error
