"""
Objects of Kubernetes beside the schemas of its releases; run by the Python of .venv-tools.

    python kubernetes_schemas.py RELEASE... < documents.json

Prints a JSON list of what each release refuses.
"""

from __future__ import annotations

import json
import sys

import kubernetes_validate


def refused(document, release):
    """Why *release* takes no such object, or nothing."""
    try:
        kubernetes_validate.validate(document, release, strict=True)
    except kubernetes_validate.ValidationError as error:
        where = ".".join(str(step) for step in error.path)
        return f"{release}: {document['kind']}: {where}: {error.message}"
    return None


if __name__ == "__main__":
    documents = json.load(sys.stdin)
    found = [refused(one, release) for one in documents for release in sys.argv[1:]]
    json.dump([one for one in found if one], sys.stdout)
