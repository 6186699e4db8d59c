"""The members of a finding's event, which its schema describes."""

from __future__ import annotations

import json

from neuron_accounts.findings import SCHEMA_FILE
from tests.docs.reference.markdown import codes

SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))


def members():
    """Those that are always there, and those that are where there is something to say."""
    always = SCHEMA["required"]
    others = [name for name in SCHEMA["properties"] if name not in always]
    return f"Always {codes(always)}; else {codes(others)}.\n"
