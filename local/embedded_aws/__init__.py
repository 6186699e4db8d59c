"""
An AWS emulator of our own on 127.0.0.1, and the real SAM CLI deploying to it.

* `server`       starts and stops the emulator, and checks who can reach it
* `deployment`   `sam build` and `sam deploy`, as a user would run them
* `clients`      boto3 clients that can reach the emulator and nothing else
* `processes`    child processes that cannot outlive us
* `tether`       what a child runs first, so that it dies with its parent
* `sockets`      what the kernel says a process listens on
* `errors`       what can go wrong
"""

from local.embedded_aws.clients import client, require_loopback
from local.embedded_aws.deployment import Deployment, SamCli
from local.embedded_aws.errors import EmbeddedAwsError
from local.embedded_aws.processes import ChildProcess
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
