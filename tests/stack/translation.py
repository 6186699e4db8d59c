"""
Translate template.yaml to the form that CloudFormation receives, with AWS's translator of SAM.

    .venv-sam/bin/python tests/stack/translation.py template.yaml [NAME=VALUE ...]

It is a script because the translator is in the SAM CLI's environment. It prints JSON. NAME=VALUE
replaces a parameter's default.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import yaml
from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform


class NoManagedPolicies:
    """An empty list of AWS's managed policies, which the template does not use."""

    def load(self) -> dict[str, str]:
        return {}


def main() -> None:
    path, *overrides = sys.argv[1:]
    template = yaml_parse(Path(path).read_text(encoding="utf-8"))
    include = template["Resources"].pop("Fn::Transform", None)
    if include:  # CloudFormation includes files before SAM, and accepts no short forms
        included = Path(path).with_name(include["Parameters"]["Location"])
        template["Resources"] |= yaml.safe_load(included.read_text(encoding="utf-8"))
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            # the folder becomes an object in S3 before the template is translated
            resource["Properties"]["CodeUri"] = "s3://bucket/code.zip"
    template["Globals"]["Function"].pop("CodeUri", None)
    values = {name: parameter.get("Default") for name, parameter in template["Parameters"].items()}
    values |= dict(override.split("=", 1) for override in overrides)
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")  # the translator needs a region
    translated = transform(template, values, NoManagedPolicies())
    json.dump(translated, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
