"""An account whose questions and answers have the form that botocore's models give them."""

from __future__ import annotations

import functools
from datetime import datetime, timezone
from typing import Any

import botocore.session
from botocore.validate import ParamValidator

from neuron_emf.account import account
from neuron_emf.check.aws_client import Answer, AwsClient
from neuron_emf.options import AccountSettings

REGION = "us-west-2"
LAUNCHED = datetime(2025, 11, 20, 8, tzinfo=timezone.utc)


@functools.cache
def model_of(service: str) -> Any:
    """What botocore knows of a service; EC2's takes a second to read."""
    return botocore.session.get_session().get_service_model(service)


class ModelledAws(AwsClient):
    """
    An account whose answers are *played*, by operation.

    Attributes:
        asked: Actions, in order.
    """

    def __init__(self, played: dict[str, Any]) -> None:
        super().__init__(account(AccountSettings(region=REGION)))
        self.played = played
        self.asked: list[str] = []

    def ask(self, service: str, operation: str, **asked: object) -> Answer:
        name = "".join(word.title() for word in operation.split("_"))
        self.asked.append(f"{service}:{name}")
        answer = self.played.get(f"{service}.{operation}") or self.played[operation]
        if not isinstance(answer, Answer):
            answer = Answer(f"{service}:{name}", answer)
        model = model_of(service).operation_model(name)
        shapes = [(model.input_shape, asked)]
        if answer.response:  # else a refusal, or the empty answer of a proxy
            shapes.append((model.output_shape, answer.response))
        for shape, value in shapes:
            report = ParamValidator().validate(value, shape)
            assert not report.has_errors(), report.generate_report()
        return answer


def bare_instance(
    instance_id: str, instance_type: str, zone: str, vcpus: int, **more: Any
) -> dict[str, Any]:
    """Answers about a running on-demand instance that nothing holds back."""
    instance = {
        "InstanceId": instance_id,
        "InstanceType": instance_type,
        "LaunchTime": LAUNCHED,
        "State": {"Name": "running", "Code": 16},
        "Placement": {"AvailabilityZone": zone, "GroupName": ""},
        "Tags": [{"Key": "Name", "Value": "worker-7"}],
    }
    described = {"OwnerId": "123456789012", "Instances": [{**instance, **more}]}
    return {
        "describe_instances": {"Reservations": [described]},
        "describe_instance_attribute": {
            "InstanceId": instance_id,
            "DisableApiStop": {"Value": False},
            "DisableApiTermination": {"Value": False},
        },
        "describe_instance_types": {
            "InstanceTypes": [
                {"InstanceStorageSupported": False, "VCpuInfo": {"DefaultVCpus": vcpus}}
            ]
        },
        "describe_auto_scaling_instances": {"AutoScalingInstances": []},
        "list_clusters": {"clusterArns": []},
        "describe_sessions": {"Sessions": []},
    }
