#!/usr/bin/env python3
"""
Print the task definition of neuron-emf for an instance type: a daemon, or a sidecar.

    deploy/ecs/task_definition.py daemon --instance-type trn1.32xlarge --image IMAGE ...
    deploy/ecs/task_definition.py sidecar --instance-type inf2.xlarge --image IMAGE ...

A task definition lists devices one by one, and a task does not start on an instance that lacks one
of the devices. So each number of devices needs its own task definition. This program calls no AWS
API: register its output with `aws ecs register-task-definition`. Format:
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_definition_parameters.html
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ECS_FOLDER: Final = Path(__file__).resolve().parent
sys.path.insert(0, str(ECS_FOLDER.parents[1] / "lambda"))  # neuron-emf need not be installed
if sys.version_info < (3, 10):  # noqa: UP036 - the python3 of Amazon Linux 2023 is 3.9
    sys.stderr.write(
        f"Error: {sys.executable} is Python {sys.version_info[0]}.{sys.version_info[1]}. "
        "Use Python 3.10 or later, such as python3.11.\n"
    )
    sys.exit(2)

from neuron_accounts.instance_types import INSTANCE_TYPES  # noqa: E402 - see above

RESERVED_MIB: Final = 192
"""
Memory that ECS reserves for the container, MiB.

The emitter takes at most 60 (docs/explanation/cost.md). AWS's own DaemonSet reserves 128 for
neuron-monitor.
"""

LIMIT_MIB: Final = 576
"""
Memory limit of the container, MiB.

It is the sum of 60 for the emitter, 500 for neuron-monitor as in AWS's own chart, and 16 for cached
pages of the spool's file.
"""

MONITOR_HEAP: Final = "320MiB"  # GOMEMLIMIT of neuron-monitor; as in AWS's own chart
CPU_UNITS: Final = 128  # a vCPU has 1,024; a share of a contended CPU, not a limit
STOP_WITHIN_S: Final = 20  # neuron-monitor ends within 2 s, the emitter flushes for up to 5 s
SPOOL: Final = "/var/lib/neuron-emf"
SPOOL_VOLUME: Final = "neuron-emf-spool"  # a daemon's volume stays on the instance
CONTAINER_USER: Final = 10001  # the user in deploy/container/Containerfile
HEALTH_COMMAND: Final = ("CMD", "neuron-emf", "check", "--quick")
HEALTH_CHECK: Final = {
    "command": list(HEALTH_COMMAND),
    "interval": 60,
    "timeout": 15,
    "retries": 3,
    "startPeriod": 180,
}
EMITTERS_GROUP: Final = "/neuron-emf/emitters"  # standard error of the emitters, not their records
TASK_RECORDS_GROUP: Final = "/neuron-emf/records"

_COMMANDS: Final = {
    "daemon": "the task definition of one emitter on each instance",
    "sidecar": "the task definition of an application and its emitter",
}


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """
    Values of a task definition that depend on the account.

    Attributes:
        image: The image of neuron-emf by the name that `docker push` used.

        region: AWS region of the log groups.

        task_role: ARN of the role that has the stack's managed policy.

        execution_role: ARN of the role with which ECS pulls the image and writes logs.

        records: Log group of the records: the stack's output EmitterLogGroupName.

        device_group: ID of the group that owns /dev/neuron*; None if every user may open them.

        prometheus_port: Port that serves the values of the last report; None to serve none.
    """

    image: str
    region: str
    task_role: str
    execution_role: str
    records: str = TASK_RECORDS_GROUP
    device_group: int | None = None
    prometheus_port: int | None = None


def types_by_devices() -> dict[int, list[str]]:
    """Return the instance types with Neuron devices, grouped by their number of devices."""
    types: dict[int, list[str]] = {}
    for name, row in INSTANCE_TYPES.items():
        types.setdefault(row.devices, []).append(name)
    return dict(sorted(types.items()))


def device_paths(devices: int) -> list[str]:
    """Return the paths of the first *devices* devices of the Neuron driver."""
    return [f"/dev/neuron{index}" for index in range(devices)]


def linux_devices(devices: int) -> list[dict[str, Any]]:
    """Return `linuxParameters.devices` for an instance with *devices* devices."""
    return [
        {"hostPath": path, "containerPath": path, "permissions": ["read", "write"]}
        for path in device_paths(devices)
    ]


def emitter_container(devices: int, place: TaskPlace, *, is_daemon: bool) -> dict[str, Any]:
    """Return the container of the emitter and of the neuron-monitor that the emitter starts."""
    settings = _settings(place, is_daemon=is_daemon)
    container: dict[str, Any] = {"name": "neuron-emf", "image": place.image}
    if place.device_group is not None:
        container["user"] = f"{CONTAINER_USER}:{place.device_group}"
    container["essential"] = is_daemon
    if not is_daemon:
        container["restartPolicy"] = {"enabled": True, "restartAttemptPeriod": 60}
    port = place.prometheus_port
    if port is not None and not is_daemon:  # a daemon uses the ports of its instance
        container["portMappings"] = [{"containerPort": port, "hostPort": port}]
    container.update(
        cpu=CPU_UNITS,
        memoryReservation=RESERVED_MIB,
        memory=LIMIT_MIB,
        environment=[{"name": name, "value": value} for name, value in settings.items()],
        readonlyRootFilesystem=True,
        linuxParameters={
            "capabilities": {"drop": ["ALL"]},
            "devices": linux_devices(devices),
            "tmpfs": [{"containerPath": "/tmp", "size": 16}],  # noqa: S108 - a mount of its own
        },
        mountPoints=[{"sourceVolume": SPOOL_VOLUME, "containerPath": SPOOL, "readOnly": False}],
    )
    if is_daemon:  # for a container that is not essential, ECS does not act on its health
        container["healthCheck"] = HEALTH_CHECK
    container["stopTimeout"] = STOP_WITHIN_S
    container["logConfiguration"] = _log_configuration(place.region)
    return container


def _settings(place: TaskPlace, *, is_daemon: bool) -> dict[str, str]:
    """Return the environment variables of the emitter's container."""
    settings = {
        "GOMEMLIMIT": MONITOR_HEAP,
        # Reports have the process IDs of the instance, which a sidecar cannot see.
        "NEURON_EMF_ATTRIBUTION": "auto" if is_daemon else "none",
        "NEURON_EMF_KERNEL_MESSAGES": "none",
        "NEURON_EMF_LOG_GROUP": place.records,
        "NEURON_EMF_METRICS": "none",  # the stack publishes metrics; use cluster without a stack
        "NEURON_EMF_REGION": place.region,
        "NEURON_EMF_SPOOL_DIR": SPOOL,
    }
    if place.prometheus_port is not None:  # every address, so that other containers can connect
        settings["NEURON_EMF_PROMETHEUS"] = f"0.0.0.0:{place.prometheus_port}"
    return settings


def _log_configuration(region: str) -> dict[str, Any]:
    """Return the destination of the emitter's standard error."""
    return {
        "logDriver": "awslogs",
        "options": {
            "awslogs-group": EMITTERS_GROUP,
            "awslogs-region": region,
            "awslogs-stream-prefix": "neuron-emf",
            "mode": "non-blocking",  # an unreachable log must not block the emitter
            "max-buffer-size": "1m",
        },
    }


def daemon(devices: int, place: TaskPlace) -> dict[str, Any]:
    """Return the task definition of one emitter on each instance with *devices* devices."""
    task = _task(devices, place, {"scope": "shared", "autoprovision": True, "driver": "local"})
    return {
        "family": f"neuron-emf-{devices}",
        "requiresCompatibilities": ["EC2"],
        "networkMode": "host",  # only this network reaches the ECS agent, which knows containers
        "pidMode": "host",  # reports have the process IDs of the instance
        **task,
        "containerDefinitions": [emitter_container(devices, place, is_daemon=True)],
    }


def sidecar(devices: int, place: TaskPlace, app_image: str) -> dict[str, Any]:
    """
    Return the task definition of an application with *devices* devices and of its emitter.

    The container `app` is a placeholder: replace it by the definition of the application.
    """
    app = {
        "name": "app",
        "image": app_image,
        "essential": True,
        "memoryReservation": 4096,
        "linuxParameters": {"devices": linux_devices(devices)},
    }
    return {
        "family": "app-with-neuron-emf",
        "requiresCompatibilities": ["EC2"],
        **_task(devices, place, {"scope": "task", "driver": "local"}),
        "containerDefinitions": [app, emitter_container(devices, place, is_daemon=False)],
    }


def _task(devices: int, place: TaskPlace, volume: dict[str, Any]) -> dict[str, Any]:
    """Return the roles, the instance types and the volume of the spool for a task definition."""
    types = ", ".join(types_by_devices()[devices])
    constraint = {"type": "memberOf", "expression": f"attribute:ecs.instance-type in [{types}]"}
    return {
        "taskRoleArn": place.task_role,
        "executionRoleArn": place.execution_role,
        "placementConstraints": [constraint],
        "volumes": [{"name": SPOOL_VOLUME, "dockerVolumeConfiguration": volume}],
    }


def as_json(value: object) -> str:
    """Return *value* as the text of a JSON file."""
    return f"{json.dumps(value, indent=2)}\n"


def main(arguments: list[str] | None = None) -> None:
    """Print the task definition that *arguments* describe; None reads the command line."""
    devices_of = {name: n for n, names in types_by_devices().items() for name in names}
    parser = argparse.ArgumentParser(description="Print the task definition of neuron-emf.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in _COMMANDS.items():
        command = commands.add_parser(name, help=text)
        instance = command.add_mutually_exclusive_group(required=True)
        instance.add_argument("--instance-type", choices=devices_of, metavar="TYPE")
        instance.add_argument("--devices", type=int, choices=types_by_devices())
        command.add_argument("--image", required=True)
        command.add_argument("--region", required=True)
        command.add_argument("--task-role", required=True, metavar="ARN")
        command.add_argument("--execution-role", required=True, metavar="ARN")
        command.add_argument("--log-group", default=TASK_RECORDS_GROUP)
        command.add_argument("--device-group", type=int, metavar="GID")
        command.add_argument("--prometheus-port", type=int, metavar="PORT")
        if name == "sidecar":
            command.add_argument("--app-image", required=True)
    options = parser.parse_args(arguments)
    place = TaskPlace(
        image=options.image,
        region=options.region,
        task_role=options.task_role,
        execution_role=options.execution_role,
        records=options.log_group,
        device_group=options.device_group,
        prometheus_port=options.prometheus_port,
    )
    devices: int = options.devices or devices_of[options.instance_type]
    is_daemon = options.command == "daemon"
    task = daemon(devices, place) if is_daemon else sidecar(devices, place, options.app_image)
    sys.stdout.write(as_json(task))


if __name__ == "__main__":
    main()
