"""
A release of the stack: the files in the wheel, and the bucket that keeps them.

Zip and template are named by the SHA-256 of their content, so the same release has the same names
everywhere and an upload can be compared. The bucket is private, encrypted, versioned and TLS only,
and its name is generated: its own stack owns it, so it is found by the stack's name and never by a
name that another account could have taken. Every call names the account that must own it.
"""

from __future__ import annotations

import base64
import hashlib
import re
import textwrap
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.account import documented, error_code
from neuron_emf.deploy.stack import DELETING, Stack, require_usable, wait_until_done
from neuron_emitter.errors import SettingsError
from neuron_wire.catalogue import ALARMED, ROLLUP_NUMBERS, rollup_metrics

if TYPE_CHECKING:
    from collections.abc import Collection

    from neuron_emf.account import Account
    from neuron_wire.line_members import JsonObject, Texts


TEMPLATE_NAME: Final = "template.yaml"
EMITTERS: Final = "emitters.yaml"
FUNCTIONS_NAME: Final = "functions.zip"

CAPABILITIES: Final = ("CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND")
"""Capabilities for the template's roles and policies, which have generated names, and for SAM."""

_PUBLISHED: Final = re.compile(r"^  AWS::ServerlessRepo::Application:\n(?:    .+\n)+", re.MULTILINE)
_DEFAULT_LINE: Final = re.compile(
    r"^  (\w+):\n    Type: .+\n    Default: '?(.*?)'?(?: #.*)?$", re.MULTILINE
)
_INCLUDED: Final = re.compile(r"^  Fn::Transform: .*\bLocation: (\S+) .*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Package:
    """
    One release of the stack.

    Attributes:
        source: The template, one text.

        functions: The zip for all functions; empty for the template with emitters only.
    """

    source: str
    functions: bytes = b""

    @property
    def functions_key(self) -> str:
        """The name of the zip, `<sha256>.zip`."""
        return f"{hashlib.sha256(self.functions).hexdigest()}.zip"

    @property
    def defaults(self) -> dict[str, str]:
        """Return the template's parameters, in order, with their defaults."""
        return dict(_DEFAULT_LINE.findall(self.source))

    @property
    def capabilities(self) -> tuple[str, ...]:
        """Return the capabilities that CloudFormation needs."""
        return CAPABILITIES if self.functions else CAPABILITIES[:1]

    def require_named(self, named: Texts) -> None:
        """
        Check that the template has each *named* parameter.

        `Metrics`, if it is named, must have the metrics that alarms need.

        Raises:
            SettingsError: If not, with the closest name.
        """
        for name in named:
            _require_known("parameter", name, self.defaults)
        if metrics := named.get("Metrics"):
            for name in rollup_metrics(metrics)[1]:
                _require_known("metric", name, ROLLUP_NUMBERS)
            if missing := [name for name in ALARMED if name not in re.split(" *, *", metrics)]:
                msg = f"Metrics leaves out {', '.join(missing)}, which alarms need. Add them."
                raise SettingsError(msg)

    def template(self, code_uri: str) -> str:
        """
        Return the template with its functions at *code_uri*.

        The metadata for publishing is removed: packaging it would need its files.
        """
        text = _PUBLISHED.sub("", self.source)
        return text.replace(f"CodeUri: {FUNCTIONS_NAME}\n", f"CodeUri: {code_uri}\n")

    def write_release(self, folder: Path) -> tuple[Path, Path | None]:
        """Write the template and the functions to *folder*. Return their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        template = folder / TEMPLATE_NAME
        functions = folder / self.functions_key
        template.write_text(self.template(self.functions_key), encoding="utf-8")
        if not self.functions:
            return template, None
        functions.write_bytes(self.functions)
        return template, functions


def read_template(path: Path) -> str:
    """
    Return the template at *path* with the resources that it includes, as CloudFormation expands it.

    `sam deploy` makes AWS::Include do that. A release is one text, so one upload has everything.
    """
    text = path.read_text(encoding="utf-8")
    for line in _INCLUDED.finditer(text):
        # except its first paragraph, which describes how it is included
        included = path.with_name(line[1]).read_text(encoding="utf-8").partition("\n\n")[2]
        text = text.replace(line[0], textwrap.indent(included, "  "))
    return text


def carried(folder: Path = Path(__file__).parent, *, emitters_only: bool = False) -> Package:
    """
    Return the release that this installation contains, next to this module.

    Raises:
        SettingsError: If it contains no release, like an installation from a clone.
    """
    try:
        source = (folder / (EMITTERS if emitters_only else TEMPLATE_NAME)).read_text(
            encoding="utf-8"
        )
        return Package(source, b"" if emitters_only else (folder / FUNCTIONS_NAME).read_bytes())
    except FileNotFoundError as error:
        command = "sam build && sam deploy"
        if emitters_only:
            command = (
                f"aws cloudformation deploy --template-file {EMITTERS}"
                " --stack-name neuron-emf-emitters --capabilities CAPABILITY_IAM"
            )
        msg = (
            "This installation has no template, because it was made from a clone. Install the "
            "wheel that `make wheel` puts into dist/ in a clone of the repository, or deploy "
            f"there: {command}."
        )
        raise SettingsError(msg) from error


def _require_known(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        meant = get_close_matches(name, known, 1)
        advice = f"Did you mean {meant[0]}?" if meant else f"There are {', '.join(known)}."
        msg = f"The template has no {what} {name[:80]}. {advice}"
        raise SettingsError(msg)


BUCKET_STACK_NAME: Final = "neuron-emf-deploy"
_RELEASE_KEY: Final = re.compile(r"[0-9a-f]{64}\.(?:yaml|zip)")


@dataclass(frozen=True, slots=True)
class ReleaseBucket:
    """
    The bucket that keeps releases.

    Attributes:
        name: The name that CloudFormation generated.

        owner: Number of the account that must own it.
    """

    name: str
    owner: str
    _client: Any

    def upload_release(self, package: Package) -> str:
        """Upload the template and the functions of *package*. Return the template's address."""
        template = package.template(f"s3://{self.name}/{package.functions_key}").encode()
        key = f"{hashlib.sha256(template).hexdigest()}.yaml"
        self.put_object(package.functions_key, package.functions)
        self.put_object(key, template)
        return f"{self._client.meta.endpoint_url}/{self.name}/{key}"

    def put_object(self, key: str, content: bytes) -> bool:
        """
        Upload *content* as *key* unless it exists. Return True if it was uploaded.

        Raises:
            SourceError: If S3 refuses, or the bucket is another account's.
        """
        place = {"Bucket": self.name, "Key": key, "ExpectedBucketOwner": self.owner}
        checksum = base64.b64encode(hashlib.sha256(content).digest()).decode()
        with documented("s3:GetObject"):
            try:  # S3 computed the checksum at the upload
                head = self._client.head_object(**place, ChecksumMode="ENABLED")
                if head.get("ChecksumSHA256") == checksum:
                    return False
            except Exception as error:
                if error_code(error) not in {"404", "NoSuchKey", "NotFound"}:
                    raise
        with documented("s3:PutObject"):
            self._client.put_object(**place, Body=content, ChecksumSHA256=checksum)
        return True

    def delete_releases(self) -> None:
        """
        Delete every version of every release.

        Raises:
            SourceError: If S3 refuses.
            SettingsError: If the bucket has an object that is not a release.
        """
        place = {"Bucket": self.name, "ExpectedBucketOwner": self.owner}
        with documented("s3:ListBucketVersions"):
            pages = self._client.get_paginator("list_object_versions").paginate(**place)
            rows = list(pages.search("[Versions, DeleteMarkers][][]"))
        foreign = [row["Key"] for row in rows if not _RELEASE_KEY.fullmatch(row["Key"])]
        if foreign:
            msg = (
                f"The bucket {self.name} has {foreign[0][:80]!r}, which is not a release. Move it."
            )
            raise SettingsError(msg)
        for row in rows:
            with documented("s3:DeleteObjectVersion"):
                self._client.delete_object(**place, Key=row["Key"], VersionId=row["VersionId"])

    def delete(self) -> None:
        """
        Delete the empty bucket.

        Raises:
            SourceError: If S3 refuses.
        """
        with documented("s3:DeleteBucket"):
            self._client.delete_bucket(Bucket=self.name, ExpectedBucketOwner=self.owner)


def bucket_of(account: Account, stack: Stack) -> ReleaseBucket:
    """
    Return the release bucket that *stack* owns.

    Raises:
        SourceError: If AWS refuses.
    """
    with documented("sts:GetCallerIdentity"):
        owner = str(account.client("sts").get_caller_identity()["Account"])
    return ReleaseBucket(stack.outputs["BucketName"], owner, account.client("s3"))


def release_bucket(account: Account, choices: JsonObject) -> ReleaseBucket:
    """
    Return the release bucket of *account* in its Region, created with *choices* if there is none.

    If another deployment is creating it, this one waits.

    Raises:
        SourceError: If AWS refuses, or its stack cannot be used.
        SettingsError: If its stack has no bucket, as after a change set that was never executed.
    """
    cloudformation = account.client("cloudformation")
    stack = Stack.describe(cloudformation, BUCKET_STACK_NAME)
    if not stack.status:
        body = Path(__file__).with_name("bucket.yaml").read_text(encoding="utf-8")
        with documented("cloudformation:CreateStack"):
            try:
                cloudformation.create_stack(
                    StackName=BUCKET_STACK_NAME, TemplateBody=body, **choices
                )
            except Exception as error:
                if error_code(error) != "AlreadyExistsException":
                    raise
    if not stack.status or (stack.is_busy and stack.status != DELETING):
        stack = wait_until_done(cloudformation, BUCKET_STACK_NAME)
    if "BucketName" not in stack.outputs or stack.status == DELETING:
        require_usable(stack)
        msg = (
            f"The stack {BUCKET_STACK_NAME} is {stack.status} and has no bucket for releases. "
            f"Delete it (aws cloudformation delete-stack --stack-name {BUCKET_STACK_NAME}), "
            "then deploy again."
        )
        raise SettingsError(msg)
    return bucket_of(account, stack)
