"""Shipped code: the audit of its pins, and the emitter's requests to AWS."""

from __future__ import annotations

import ast
import json

import pytest

from local.alarms.template import load_template
from proof.logs.logs_service import LogsService
from proof.logs.service_faults import DENIED_FAULT, THROTTLED
from requirements.audit import read_answer, verdict
from tests.neuron_emitter.emitter_command import neuron_emf
from tests.neuron_emitter.neuron_reports import GOOD_REPORT
from tests.stack.stack_template import as_list, statements


def answer(**packages):
    """Return pip-audit's output: each package with its vulnerabilities, None if unknown."""
    packages_of_audit = [
        {"name": name, "skip_reason": "not found"}
        if ids is None
        else {"name": name, "version": "1", "vulns": [{"id": name_of} for name_of in ids]}
        for name, ids in packages.items()
    ]
    return json.dumps({"dependencies": packages_of_audit, "fixes": []})


@pytest.mark.parametrize(
    ("packages", "row", "code"),
    [
        ({"a": [], "b": []}, (2, 0, 0), 0),
        ({"a": [], "b": None}, (2, 1, 0), 3),
        ({"a": ["CVE-2", "CVE-1"], "b": None}, (2, 1, 1), 1),
    ],
    ids=["clean", "unanswered", "known"],
)
def test_nobody_s_answer_is_not_a_clean_one(packages, row, code):
    """A package that could not be audited is not clean, although pip-audit itself ends with 0."""
    audit = read_answer(answer(**packages))
    assert row == (audit.packages, len(audit.unanswered), len(audit.known))
    assert code == verdict(audit)


def granted(repository):
    """Return the actions of the template's policy for instances."""
    template = load_template(repository / "template.yaml")
    return {
        action
        for name, statement in statements(template)
        if name == "EmitterPolicy"
        for action in as_list(statement["Action"])
    }


@pytest.mark.slow
def test_the_emitter_asks_for_what_it_may_and_for_nothing_else(repository, tmp_path):
    """
    The emitter requests exactly its permitted actions with a missing stream, a throttled call and a
    denied call.
    """
    reports = tmp_path / "reports.jsonl"
    reports.write_bytes(GOOD_REPORT)
    arguments = ("run", "--cluster", "blue", "--input", reports, "--spool-dir", tmp_path / "spool")
    with LogsService() as service:
        for faults in ([DENIED_FAULT], [THROTTLED], []):
            service.next_faults["PutLogEvents"][:] = faults
            neuron_emf(*arguments, home=tmp_path, variables=service.variables)
        used = {f"logs:{call.operation}" for call in service.calls}
        assert service.rules.applied
    assert granted(repository) == used


def test_the_one_other_request_is_for_the_tags_of_an_instance_and_optional(repository):
    """The only other request, for an instance's tags, is optional and in no policy of the stack."""
    signed = {
        path.name: {
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        for path in (repository / "emitter").rglob("*.py")
        if "botocore.auth" in path.read_text(encoding="utf-8")
    }
    assert ["instance_tags.py"] == list(signed)
    (words,) = signed.values()
    assert {"DescribeTags"} == {word for word in words if word.startswith("Describe")}
    page = (repository / "docs" / "how-to" / "eks.md").read_text(encoding="utf-8")
    assert "allow `ec2:DescribeTags`" in page
