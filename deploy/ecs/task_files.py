#!/usr/bin/env python3
"""
Generate daemon.json, sidecar.json and parts of service.yaml, next to this program.

    deploy/ecs/task_files.py

The two task definitions are examples for an instance with 12 devices. The template has a list of
instance types and a daemon service for each number of devices.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from task_definition import TaskPlace, as_json, daemon, device_paths, sidecar, types_by_devices

ECS_FOLDER: Final = Path(__file__).resolve().parent

EXAMPLE_PLACE: Final = TaskPlace(
    image="111122223333.dkr.ecr.us-east-1.amazonaws.com/neuron-emf:0.1.0",
    region="us-east-1",
    task_role="arn:aws:iam::111122223333:role/neuron-emf-task",
    execution_role="arn:aws:iam::111122223333:role/neuron-emf-execution",
)
EXAMPLE_APP: Final = "111122223333.dkr.ecr.us-east-1.amazonaws.com/app:1"
EXAMPLE_DEVICES: Final = 12  # an inf2.48xlarge has 12

GENERATED: Final = re.compile(
    r"(?<=\n)(?P<indent> *)# --- written by task_files.py: (?P<name>[a-z ]+) ---\n"
    r".*?(?=(?P=indent)# --- end: (?P=name) ---\n)",
    re.DOTALL,
)


def template(text: str) -> str:
    """Return the CloudFormation template *text* with its generated parts written again."""
    parts = {"instance types": _type_parameters, "daemons": _daemons}

    def generate(part: re.Match[str]) -> str:
        opening = part[0].partition("\n")[0]
        return f"{opening}\n{parts[part['name']]()}"

    return GENERATED.sub(generate, text)


def _type_parameters() -> str:
    """Return a parameter with the instance types for each number of devices."""
    return "".join(
        f"  InstanceTypes{devices}:\n"
        "    Type: String\n"
        f"    Default: {', '.join(names)}\n"
        '    AllowedPattern: "[a-z0-9.-]+(, [a-z0-9.-]+)*"\n'
        f"    Description: Instance types with {_counted(devices)}, separated by a comma and a "
        "space; an instance of a type that is in no list gets no emitter.\n"
        for devices, names in types_by_devices().items()
    )


def _counted(devices: int) -> str:
    """Return *devices* with its noun, in the singular or plural."""
    return "1 Neuron device" if devices == 1 else f"{devices} Neuron devices"


def _daemons() -> str:
    """Return a daemon service for each number of devices, from daemon.part.yaml."""
    service = (ECS_FOLDER / "daemon.part.yaml").read_text("utf-8").partition("\n---\n")[2]
    return "".join(
        service.replace("{devices}", str(devices)).replace("{device_list}", _device_list(devices))
        for devices in types_by_devices()
    )


def _device_list(devices: int) -> str:
    """Return the YAML list of *devices* devices of a task definition."""
    line = "              - {{ HostPath: {0}, ContainerPath: {0}, Permissions: [read, write] }}"
    return "\n".join(line.format(path) for path in device_paths(devices))


def files() -> dict[Path, str]:
    """Return the texts of the generated files by path."""
    template_file = ECS_FOLDER / "service.yaml"
    return {
        ECS_FOLDER / "daemon.json": as_json(daemon(EXAMPLE_DEVICES, EXAMPLE_PLACE)),
        ECS_FOLDER / "sidecar.json": as_json(sidecar(EXAMPLE_DEVICES, EXAMPLE_PLACE, EXAMPLE_APP)),
        template_file: template(template_file.read_text("utf-8")),
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, "utf-8")
