"""
The bucket of the releases: private, encrypted, versioned, TLS only, its name generated.

A stack of its own owns it, so that it is found again by the stack's name and
never by a name that somebody else could have taken. Every call on it also says
which account must own it.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.account import documented, error_code
from neuron_emf.deploy.stack import Stack, require_usable, wait_until_done

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_emf.account import Account
    from neuron_emf.deploy.package import Package

STACK_NAME: Final = "neuron-emf-deploy"
_ABSENT: Final = frozenset({"404", "NoSuchKey", "NotFound"})
_MADE_MEANWHILE: Final = "AlreadyExistsException"


@dataclass(frozen=True, slots=True)
class ReleaseBucket:
    """
    One bucket.

    Attributes:
        name: As CloudFormation generated it.

        owner: Number of the account that must own it.
    """

    name: str
    owner: str
    _client: Any

    def upload(self, package: Package) -> str:
        """Have the template and the functions of *package* here; the template's address."""
        template = package.template(f"s3://{self.name}/{package.functions_key}").encode()
        key = f"{hashlib.sha256(template).hexdigest()}.yaml"
        self.put(package.functions_key, package.functions)
        self.put(key, template)
        return f"{self._client.meta.endpoint_url}/{self.name}/{key}"

    def put(self, key: str, content: bytes) -> bool:
        """
        Have *content* under *key*; whether it had to be uploaded.

        Raises:
            SourceError: If S3 refuses, or the bucket is another account's.
        """
        place = {"Bucket": self.name, "Key": key, "ExpectedBucketOwner": self.owner}
        checksum = base64.b64encode(hashlib.sha256(content).digest()).decode()
        with documented("s3:GetObject"):
            try:  # S3 reckoned the checksum at the upload
                head = self._client.head_object(**place, ChecksumMode="ENABLED")
                if head.get("ChecksumSHA256") == checksum:
                    return False
            except Exception as error:
                if error_code(error) not in _ABSENT:
                    raise
        with documented("s3:PutObject"):
            self._client.put_object(**place, Body=content, ChecksumSHA256=checksum)
        return True


def release_bucket(account: Account, choices: Mapping[str, object]) -> ReleaseBucket:
    """
    The bucket of *account* in its region, made when there is none, with *choices* as a change set.

    Another deployment may be making it: this one waits.

    Raises:
        SourceError: If AWS refuses, or its stack is in no state to be used.
    """
    with documented("sts:GetCallerIdentity"):
        owner = str(account.client("sts").get_caller_identity()["Account"])
    cloudformation = account.client("cloudformation")
    stack = Stack.read(cloudformation, STACK_NAME)
    if stack is None:
        body = Path(__file__).with_name("bucket.yaml").read_text(encoding="utf-8")
        with documented("cloudformation:CreateStack"):
            try:
                cloudformation.create_stack(StackName=STACK_NAME, TemplateBody=body, **choices)
            except Exception as error:
                if error_code(error) != _MADE_MEANWHILE:
                    raise
    if stack is None or stack.is_changing:
        stack = wait_until_done(cloudformation, STACK_NAME)
    if "BucketName" not in stack.outputs:
        require_usable(stack)
    return ReleaseBucket(stack.outputs["BucketName"], owner, account.client("s3"))
