"""
The fleet as EC2 describes it: what the embedded AWS is started with.

Nobody can choose the id of an instance that is run, so the instances are put where the
emulator keeps what it had at its last end; the form is that of its own module `ec2`.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from local.rehearsal.fleet import FLEET

if TYPE_CHECKING:
    from local.rehearsal.fleet import FleetInstance

DAY_S: Final = 86_400
"""So long before the start of the rehearsal they were launched."""


def described_fleet(now_s: float) -> dict[str, dict[str, object]]:
    """By service of the emulator, the state in which EC2 has every member running at *now_s*."""
    launched = datetime.fromtimestamp(now_s - DAY_S, timezone.utc)
    names = {
        member.instance_id: [{"Key": "Name", "Value": f"{member.cluster}-{number}"}]
        for number, member in enumerate(FLEET)
    }
    instances = {
        member.instance_id: _instance(member, f"10.0.0.{number + 4}", launched)
        for number, member in enumerate(FLEET)
    }
    return {"ec2": {"instances": instances, "tags": names}}


def _instance(member: FleetInstance, address: str, launched: datetime) -> dict[str, object]:
    identity = member.simulated.identity_block()
    name = f"ip-{address.replace('.', '-')}"
    return {
        "InstanceId": member.instance_id,
        "InstanceType": member.instance_type,
        "ImageId": identity["ami_id"],
        "SubnetId": identity["subnet_id"],
        "State": {"Code": 16, "Name": "running"},
        "LaunchTime": launched.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "Placement": {
            "AvailabilityZone": identity["instance_availability_zone"],
            "Tenancy": "default",
        },
        "VpcId": "vpc-00000001",
        "PrivateIpAddress": address,
        "PrivateDnsName": f"{name}.ec2.internal",
        "PublicIpAddress": "",
        "PublicDnsName": "",
        "Architecture": "x86_64",
        "RootDeviceType": "ebs",
        "RootDeviceName": "/dev/xvda",
        "Virtualization": "hvm",
        "Hypervisor": "xen",
        "Monitoring": {"State": "disabled"},
        "AmiLaunchIndex": 0,
    }
