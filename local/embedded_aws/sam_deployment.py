"""
`sam build` and `sam deploy` against the embedded AWS, as a user would run them.

It is the real SAM CLI in its own environment, with the endpoint and invented credentials in AWS's
own variables. It does not depend on the template's content. No telemetry is sent and nothing is
written to the user's home folder.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from local.embedded_aws.child_processes import ChildProcess, EmbeddedAwsError, require_installed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from local.embedded_aws.emulator import EmbeddedAws

DEPLOYED_WITHIN_S: Final = 300.0  # it may have to download the functions' dependencies
_SAM_POLL_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Deployment:
    """
    One deployed stack.

    Attributes:
        outputs: The stack's outputs by key.

        resources: Physical IDs by logical ID, for example `CloseFunction` →
            `neuron-emf-CloseFunction-4BB5A14FC0C45`.
    """

    outputs: Mapping[str, str]
    resources: Mapping[str, str]


class SamCli:
    """The SAM CLI and the folder it may write to."""

    def __init__(self, program: Path, folder: Path, check: Callable[[], None]) -> None:
        """Take *check*, which is called while a command runs and may raise to stop it."""
        self._program = program
        self._folder = folder
        self._check = check

    def build(self, template: Path, environment: Mapping[str, str]) -> Path:
        """
        Build *template*. Return the built template.

        Raises:
            EmbeddedAwsError: If the SAM CLI is missing, fails or does not end.
        """
        built = self._folder / "build"
        # A cached build ships a changed local dependency stale, without a warning.
        command = ["--template-file", str(template), "--build-dir", str(built), "--no-cached"]
        self._run("build", command, environment, template.parent)
        return built / "template.yaml"

    def deploy(
        self, template: Path, stack_name: str, parameters: Mapping[str, str], aws: EmbeddedAws
    ) -> Deployment:
        """
        Deploy a built *template* to *aws*.

        Raises:
            EmbeddedAwsError: If the SAM CLI fails or does not end.
        """
        command = [
            *("--template-file", str(template), "--stack-name", stack_name),
            *("--resolve-s3", "--no-confirm-changeset", "--no-progressbar"),
            "--no-fail-on-empty-changeset",  # as in samconfig.toml
            *("--capabilities", "CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"),
            "--parameter-overrides",
            *(f"{name}={value}" for name, value in parameters.items()),
        ]
        self._run("deploy", command, aws.environment(), template.parent)
        cloudformation = aws.client("cloudformation")
        stack = cloudformation.describe_stacks(StackName=stack_name)["Stacks"][0]
        resources = cloudformation.describe_stack_resources(StackName=stack_name)["StackResources"]
        return Deployment(
            outputs={row["OutputKey"]: row["OutputValue"] for row in stack.get("Outputs", [])},
            resources={
                row["LogicalResourceId"]: row.get("PhysicalResourceId", "") for row in resources
            },
        )

    def _run(
        self, name: str, arguments: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> None:
        require_installed("SAM CLI", self._program)
        temporary = self._folder / "tmp"
        temporary.mkdir(exist_ok=True)
        settings = {
            **environment,
            "TMPDIR": str(temporary),  # it leaves its folders behind if it is stopped
            "PYTHON": str(self._program.parent / "python"),  # for makefile builds; it has pip
            "SAM_CLI_TELEMETRY": "0",
            # the folder in which it remembers its first run
            "__SAM_CLI_APP_DIR": str(self._folder / "sam"),
            "SAM_CLI_POLL_DELAY": "0.5",  # seconds between two checks of a stack; the default is 5
        }
        child = ChildProcess(
            f"sam {name}",
            [str(self._program), name, *arguments],
            output=self._folder / f"sam-{name}.log",
            environment=settings,
            folder=folder,
        )
        deadline = time.monotonic() + DEPLOYED_WITHIN_S
        try:
            while (code := child.wait(_SAM_POLL_S)) is None and time.monotonic() < deadline:
                self._check()
        finally:
            child.stop(patience_s=2.0)
        if code is None:
            msg = f"sam {name} did not finish within {DEPLOYED_WITHIN_S:.0f} s and was stopped"
            raise EmbeddedAwsError(msg, child.tail())
        if code:
            msg = f"sam {name} failed with exit code {code}; its last lines:"
            raise EmbeddedAwsError(msg, child.tail())
