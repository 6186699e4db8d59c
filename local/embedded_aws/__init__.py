"""An AWS emulator of our own on 127.0.0.1, and the real SAM CLI deploying to it."""

from local.embedded_aws.clients import client, require_loopback
from local.embedded_aws.deployment import Deployment, SamCli
from local.embedded_aws.processes import ChildProcess, EmbeddedAwsError
from local.embedded_aws.server import EmbeddedAws

__all__ = [
    "ChildProcess",
    "Deployment",
    "EmbeddedAws",
    "EmbeddedAwsError",
    "SamCli",
    "client",
    "require_loopback",
]
