"""
Apply the Terraform module with Terraform itself, the provider of AWS, and the embedded AWS.

The provider comes from a folder of this machine, as `terraform providers mirror` writes it:
Terraform's own search folders, TF_PLUGIN_CACHE_DIR, or a folder below /opt. No registry is used.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local import REPOSITORY
from local.alarms.template import load
from local.embedded_aws.clients import EMBEDDED_REGION
from local.embedded_aws.emulator import EmbeddedAws
from local.rehearsal.rehearsal_stack import overrides
from neuron_emf.deploy.package import carried

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Terraform"
CLAIM = (
    "Terraform plans, applies, finds no difference and destroys deploy/terraform on the embedded "
    "AWS, with the provider of AWS."
)

MODULE = REPOSITORY / "deploy/terraform"
TERRAFORM_MINISTACK = REPOSITORY / ".venv-embedded/bin/ministack"
PROVIDER = Path("registry.terraform.io/hashicorp/aws")
MIRRORS = (
    "~/.terraform.d/plugins",
    "~/.local/share/terraform/plugins",
    "/usr/local/share/terraform/plugins",
    "/usr/share/terraform/plugins",
)
TERRAFORM_BUCKET = "amzn-s3-demo-bucket"
DIFFERENCE = 2  # the exit code of `plan -detailed-exitcode`
TERRAFORM_SERVICES = ("cloudformation", "s3", "sts", "iam")


def mirror() -> Path | None:
    """Return the folder with the provider of AWS, or None."""
    folders = [Path(name).expanduser() for name in MIRRORS]
    if "TF_PLUGIN_CACHE_DIR" in os.environ:
        folders.append(Path(os.environ["TF_PLUGIN_CACHE_DIR"]))
    folders += sorted(Path("/opt").glob("*"))
    return next((folder for folder in folders if (folder / PROVIDER).is_dir()), None)


def missing() -> str | None:
    """Return why the part cannot run here."""
    if shutil.which("terraform") is None:
        return "terraform was not found: it is in no package of Debian, install it by hand"
    if mirror() is None:
        return f"the provider hashicorp/aws was not found: make {MIRRORS[2]} with it"
    if not TERRAFORM_MINISTACK.exists():
        return f"{TERRAFORM_MINISTACK} is missing: run make venvs"
    return None


def versions() -> dict[str, str]:
    """Return the versions of Terraform and of the provider."""
    printed = json.loads(terraform(REPOSITORY, "version", "-json").stdout)
    folder = mirror()
    names = sorted(path.name for path in (folder / PROVIDER).iterdir()) if folder else []
    return {"Terraform": printed["terraform_version"], "provider of AWS": names[-1]}


def terraform(
    folder: Path, *words: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Terraform in *folder*, without settings of this machine and without prompts."""
    settings = {
        **(os.environ if environment is None else environment),
        "TF_CLI_CONFIG_FILE": os.devnull,
        "TF_IN_AUTOMATION": "1",
        "CHECKPOINT_DISABLE": "1",
    }
    return subprocess.run(
        ["terraform", *words],
        cwd=folder,
        env=settings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def initialize(folder: Path) -> None:
    """Copy the module to *folder*, and initialize it with the provider of this machine."""
    shutil.copytree(MODULE, folder, ignore=shutil.ignore_patterns("*.py"), dirs_exist_ok=True)
    words = ("init", "-backend=false", "-input=false", "-no-color", f"-plugin-dir={mirror()}")
    ended = terraform(folder, *words)
    assert ended.returncode == 0, ended.stderr


def run(folder: Path) -> list[str]:
    """Plan, apply, plan again, and destroy."""
    release = write_release(folder / "release")
    module = folder / "module"
    initialize(module)
    emulator = folder / "aws"
    emulator.mkdir()
    aws = EmbeddedAws(TERRAFORM_MINISTACK, emulator)
    aws.start()
    try:
        place = {"LocationConstraint": EMBEDDED_REGION}
        aws.client("s3").create_bucket(Bucket=TERRAFORM_BUCKET, CreateBucketConfiguration=place)
        use_path_style(module / "main.tf")
        (module / "provider.tf").write_text(provider(aws.endpoint_url))
        (module / "terraform.tfvars.json").write_text(json.dumps(variables(release)))
        return applied(module, aws)
    finally:
        aws.stop()


def write_release(folder: Path) -> Path:
    """Write the release of this tree to *folder*, as `neuron-emf deploy --write-template` does."""
    release = folder.with_name("carried")
    release.mkdir()
    script = REPOSITORY / "deploy/wheel/carried.py"
    environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'lambda'}"}
    subprocess.run([sys.executable, script, release], env=environment, check=True)
    carried(release).write_release(folder)
    return folder


def variables(release: Path) -> dict[str, Any]:
    """Return the module's variables: those that the emulator needs, and two of a user."""
    changed = overrides(load((release / "template.yaml").read_text("utf-8")))
    in_snake_case = {
        re.sub(r"(?<!^)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "_", name).lower(): value
        for name, value in changed.items()
    }
    return {
        "release": str(release),
        "bucket": TERRAFORM_BUCKET,
        "idle_after_minutes": 20,
        **in_snake_case,
    }


def use_path_style(main: Path) -> None:
    """
    Give the template a path-style address, because the emulator has no bucket in its host name.
    """
    text = main.read_text("utf-8")
    by_host = "https://${data.aws_s3_bucket.release.bucket_regional_domain_name}/"
    assert text.count(by_host) == 1, text
    main.write_text(text.replace(by_host, f"https://s3.amazonaws.com/{TERRAFORM_BUCKET}/"), "utf-8")


def provider(endpoint: str) -> str:
    """Return settings with which the provider can reach only *endpoint*."""
    lines = [f'    {service} = "{endpoint}"' for service in TERRAFORM_SERVICES]
    return "\n".join(
        [
            'provider "aws" {',
            f'  region = "{EMBEDDED_REGION}"',
            '  access_key = "none"',
            '  secret_key = "none"',
            "  s3_use_path_style = true",
            "  skip_credentials_validation = true",
            "  skip_requesting_account_id = true",
            "  skip_metadata_api_check = true",
            "  endpoints {",
            *lines,
            "  }",
            "}",
        ]
    )


def applied(module: Path, aws: EmbeddedAws) -> list[str]:
    """Return the result of each step of Terraform."""
    environment = {**os.environ, **aws.environment()}

    def step(*words: str) -> subprocess.CompletedProcess[str]:
        return terraform(module, *words, "-input=false", "-no-color", environment=environment)

    planned = step("plan", "-detailed-exitcode")
    assert planned.returncode == DIFFERENCE, planned.stderr
    to_add = summary(r"Plan: .*", planned.stdout)
    apply_output = step("apply", "-auto-approve")
    assert apply_output.returncode == 0, apply_output.stderr
    stacks = aws.client("cloudformation")
    (stack,) = stacks.describe_stacks(StackName="neuron-emf")["Stacks"]
    parameters = {row["ParameterKey"]: row["ParameterValue"] for row in stack["Parameters"]}
    assert parameters["IdleAfterMinutes"] == "20", parameters
    shown = json.loads(terraform(module, "output", "-json", environment=environment).stdout)
    assert shown, "The module has no outputs after an apply."
    again = step("plan", "-detailed-exitcode")
    assert again.returncode == 0, f"A plan after an apply finds a difference: {again.stdout}"
    gone = step("destroy", "-auto-approve")
    assert gone.returncode == 0, gone.stderr
    left = aws.client("s3").list_objects_v2(Bucket=TERRAFORM_BUCKET).get("Contents", [])
    assert not left, f"Left in the bucket: {left}"
    return [
        f"{to_add} {summary(r'Apply complete!.*', apply_output.stdout)}",
        f"A second plan finds no difference; {len(shown)} outputs.",
        summary(r"Destroy complete!.*", gone.stdout),
    ]


def summary(pattern: str, text: str) -> str:
    """Return the line of *text* that *pattern* finds."""
    match = re.search(pattern, text)
    assert match, text
    return match[0]
