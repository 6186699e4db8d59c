"""
Which charges are hours of Neuron instances, and of which instance.

AWS writes the usage type into SkuMeter: `USE2-BoxUsage:trn1.32xlarge`.
https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-migrating.html
Data transfer, volumes and taxes of an instance have other meters or categories.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

EC2: Final = "AmazonEC2"
"""The service code; others, such as SageMaker and EMR, charge for instances, too."""

RUN_INSTANCES: Final = "RunInstances"
"""How the operation of an instance-hour begins; what follows is its operating system."""

USAGE: Final = "Usage"
PURCHASE: Final = "Purchase"
_TYPE: Final = re.compile(r":([a-z][a-z0-9-]*\.[a-z0-9]+)$")
_NEURON: Final = re.compile(r"(?:inf|trn)[0-9]")
_INSTANCE: Final = re.compile(r"(?:.*/)?(i-[0-9a-f]{8,32})")


@lru_cache(maxsize=4096)
def instance_type_of(meter: str) -> str | None:
    """The instance type that a meter names; None when it names none."""
    match = _TYPE.search(meter)
    return match[1] if match else None


def is_neuron(instance_type: str) -> bool:
    """Whether instances of the type have Neuron devices: by its name, so that it can be new."""
    return _NEURON.match(instance_type) is not None


@lru_cache(maxsize=65536)
def instance_id_of(resource_id: str) -> str | None:
    """The instance that a charge is of; None when it is of a reservation or of nothing."""
    match = _INSTANCE.fullmatch(resource_id)
    return match[1] if match else None
