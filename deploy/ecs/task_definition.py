#!/usr/bin/env python3
"""
Print the task definition of neuron-emf for an instance type: a daemon, or a sidecar.

    deploy/ecs/task_definition.py daemon --instance-type trn1.32xlarge --image IMAGE ...
    deploy/ecs/task_definition.py sidecar --instance-type inf2.xlarge --image IMAGE ...

A task definition lists devices one by one and a task does not start on an instance
that lacks one of them: so there is one for each number of devices. It refuses to know
an account; whatever is registered, `aws ecs register-task-definition` does it. From
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
sys.path.insert(0, str(ECS_FOLDER.parents[1] / "lambda"))  # also where neuron-emf is not installed
if sys.version_info < (3, 10):  # noqa: UP036 - such as the python3 of Amazon Linux 2023
    sys.stderr.write(
        f"Error: This is Python {sys.version_info[0]}.{sys.version_info[1]}. "
        "Use 3.10 or later, such as python3.11.\n"
    )
    sys.exit(2)

from neuron_accounts.instance_types import INSTANCE_TYPES  # noqa: E402 - see above

RESERVED_MIB: Final = 192
"""
Ours in megabytes: 60 at most (docs/explanation/cost.md); neuron-monitor's: 128, what AWS's
own DaemonSet reserves for it.
"""

LIMIT_MIB: Final = 576
"""
60 and 500, what AWS's own chart allows neuron-monitor, and room for pages of the spool.
"""

MONITOR_HEAP: Final = "320MiB"  # what Go's collector works towards; as in AWS's own chart
CPU_UNITS: Final = 128  # of 1,024 a vCPU; a share when the CPU is contended, no limit
STOP_WITHIN_S: Final = 20  # neuron-monitor ends within 2, records are flushed for 5
SPOOL: Final = "/var/lib/neuron-emf"
SPOOL_VOLUME: Final = "neuron-emf-spool"  # of the instance, so that the next task finds it
CONTAINER_USER: Final = 10001  # the image's
HEALTH_COMMAND: Final = ("CMD", "neuron-emf", "check", "--quick")
HEALTH_CHECK: Final = {
    "command": list(HEALTH_COMMAND),
    "interval": 60,
    "timeout": 15,
    "retries": 3,
    "startPeriod": 180,
}
EMITTERS_GROUP: Final = "/neuron-emf/emitters"  # the emitter's own log, without its records
TASK_RECORDS_GROUP: Final = "/neuron-emf/records"


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """
    What differs between accounts.

    Attributes:
        image: The image of neuron-emf, as `docker push` has it.

        region: AWS region of the log groups.

        task_role: ARN of the role that has the stack's managed policy.

        execution_role: ARN of the role with which ECS fetches the image and writes logs.

        records: Log group of the records; the stack's output EmitterLogGroupName.

        device_group: Number of the group that /dev/neuron* belongs to; None: every user may.

        prometheus_port: Port that serves the values of the last report; None if no port does.
    """

    image: str
    region: str
    task_role: str
    execution_role: str
    records: str = TASK_RECORDS_GROUP
    device_group: int | None = None
    prometheus_port: int | None = None


def types_by_devices() -> dict[int, list[str]]:
    """Return the instance types with Neuron devices, by number of devices."""
    types: dict[int, list[str]] = {}
    for name, row in INSTANCE_TYPES.items():
        types.setdefault(row.devices, []).append(name)
    return dict(sorted(types.items()))


def device_paths(devices: int) -> list[str]:
    """Return the paths of *devices* devices of the Neuron driver."""
    return [f"/dev/neuron{index}" for index in range(devices)]


def linux_devices(devices: int) -> list[dict[str, Any]]:
    """Return `linuxParameters.devices` of an instance with *devices* devices."""
    return [
        {"hostPath": path, "containerPath": path, "permissions": ["read", "write"]}
        for path in device_paths(devices)
    ]


def emitter_container(devices: int, place: TaskPlace, *, is_daemon: bool) -> dict[str, Any]:
    """The container of the emitter and of the neuron-monitor that it starts."""
    settings = {
        "GOMEMLIMIT": MONITOR_HEAP,
        # a sidecar sees its own processes only: the pids in reports are those of the instance
        "NEURON_EMF_ATTRIBUTION": "auto" if is_daemon else "none",
        "NEURON_EMF_KERNEL_MESSAGES": "none",
        "NEURON_EMF_LOG_GROUP": place.records,
        "NEURON_EMF_METRICS": "none",  # the stack has them; without a stack: cluster
        "NEURON_EMF_REGION": place.region,
        "NEURON_EMF_SPOOL_DIR": SPOOL,
    }
    port = place.prometheus_port
    if port is not None:  # to others than this container
        settings["NEURON_EMF_PROMETHEUS"] = f"0.0.0.0:{port}"
    # the daemon has the network of the instance
    published = port is not None and not is_daemon
    return {
        "name": "neuron-emf",
        "image": place.image,
        **(
            {} if place.device_group is None else {"user": f"{CONTAINER_USER}:{place.device_group}"}
        ),
        "essential": is_daemon,
        **({} if is_daemon else {"restartPolicy": {"enabled": True, "restartAttemptPeriod": 60}}),
        **({"portMappings": [{"containerPort": port, "hostPort": port}]} if published else {}),
        "cpu": CPU_UNITS,
        "memoryReservation": RESERVED_MIB,
        "memory": LIMIT_MIB,
        "environment": [{"name": name, "value": value} for name, value in settings.items()],
        "readonlyRootFilesystem": True,
        "linuxParameters": {
            "capabilities": {"drop": ["ALL"]},
            "devices": linux_devices(devices),
            "tmpfs": [{"containerPath": "/tmp", "size": 16}],  # noqa: S108 - a mount of its own
        },
        "mountPoints": [{"sourceVolume": SPOOL_VOLUME, "containerPath": SPOOL, "readOnly": False}],
        # of a container that is not essential it would end nothing
        **({"healthCheck": HEALTH_CHECK} if is_daemon else {}),
        "stopTimeout": STOP_WITHIN_S,
        "logConfiguration": {
            "logDriver": "awslogs",
            "options": {
                "awslogs-group": EMITTERS_GROUP,
                "awslogs-region": place.region,
                "awslogs-stream-prefix": "neuron-emf",
                "mode": "non-blocking",  # a log that is away must not stop the reading
                "max-buffer-size": "1m",
            },
        },
    }


def daemon(devices: int, place: TaskPlace) -> dict[str, Any]:
    """A task definition for one emitter on each instance with *devices* devices."""
    task = _task(devices, place, {"scope": "shared", "autoprovision": True, "driver": "local"})
    return {
        "family": f"neuron-emf-{devices}",
        "requiresCompatibilities": ["EC2"],
        "networkMode": "host",  # the ECS agent that knows whose a container is answers there only
        "pidMode": "host",  # the pids in reports are those of the instance
        **task,
        "containerDefinitions": [emitter_container(devices, place, is_daemon=True)],
    }


def sidecar(devices: int, place: TaskPlace, app_image: str) -> dict[str, Any]:
    """
    Return a task definition of an application with *devices* devices, and of its emitter.

    `app` stands for the application: its own definition takes its place.
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
    """Return the members of both definitions: roles, instance types and the volume of the spool."""
    types = ", ".join(types_by_devices()[devices])
    placed = {"type": "memberOf", "expression": f"attribute:ecs.instance-type in [{types}]"}
    return {
        "taskRoleArn": place.task_role,
        "executionRoleArn": place.execution_role,
        "placementConstraints": [placed],
        "volumes": [{"name": SPOOL_VOLUME, "dockerVolumeConfiguration": volume}],
    }


def as_json(value: object) -> str:
    """Return *value* as the text of a JSON file."""
    return f"{json.dumps(value, indent=2)}\n"


def main(arguments: list[str] | None = None) -> None:
    """Print a task definition."""
    devices_of = {name: n for n, names in types_by_devices().items() for name in names}
    parser = argparse.ArgumentParser(description="Print the task definition of neuron-emf.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("daemon", "one emitter on each instance"), ("sidecar", "one in a task")):
        command = commands.add_parser(name, help=f"the task definition of {what}")
        instance = command.add_mutually_exclusive_group(required=True)
        instance.add_argument("--instance-type", choices=devices_of, metavar="TYPE")
        instance.add_argument("--devices", type=int, choices=types_by_devices())
        for option in ("--image", "--region"):
            command.add_argument(option, required=True)
        for option in ("--task-role", "--execution-role"):
            command.add_argument(option, required=True, metavar="ARN")
        command.add_argument("--log-group", default=TASK_RECORDS_GROUP)
        command.add_argument("--device-group", type=int, metavar="GID")
        command.add_argument("--prometheus-port", type=int, metavar="PORT")
        if name == "sidecar":
            command.add_argument("--app-image", required=True)
    options = parser.parse_args(arguments)
    place = TaskPlace(
        *(options.image, options.region, options.task_role, options.execution_role),
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
