"""What there is to know about an instance beside its reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InstanceFacts:
    """
    Each None where it is not known.

    Attributes:
        instance_id: Such as `i-0123456789abcdef0`.

        instance_type: As EC2 spells it, such as `trn1.32xlarge`.

        region: Such as `us-east-1`.

        availability_zone: Such as `us-east-1a`.

        ami_id: Such as `ami-0123456789abcdef0`.

        account_id: The AWS account, 12 digits.

        lifecycle: The purchasing option in the service's own word, such as `spot`.
    """

    instance_id: str | None = None
    instance_type: str | None = None
    region: str | None = None
    availability_zone: str | None = None
    ami_id: str | None = None
    account_id: str | None = None
    lifecycle: str | None = None
