"""The house rules (house.guard) hold for the template as CloudFormation receives it."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from tests.programs import run_program

cfn_guard_rs = pytest.importorskip(
    "cfn_guard_rs", reason="cfn-guard-rs has no wheel for this Python"
)


@pytest.fixture(scope="session")
def rules(repository):
    """Return the text of the rules."""
    return (repository / "tests" / "stack" / "house.guard").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def translated(repository, request):
    """Return template.yaml as AWS's translator writes it."""
    python = repository / ".venv-sam" / "bin" / "python"
    if not python.exists():
        problem = pytest.fail if request.config.getoption("--built") else pytest.skip
        problem(".venv-sam is missing: make venvs makes it")
    run = run_program(
        [str(python), "-B", "tests/stack/translation.py", "template.yaml"], cwd=repository
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


HOUSE_RULE = re.compile(
    r"^rule (?P<name>\w+) \{.+?<<\s*(?P<sentence>.+?)\s*>>.*?^\}\n", re.MULTILINE | re.DOTALL
)


def keeps(template, rules, name):
    """
    Return True if *template* keeps the rule *name*. cfn-guard-rs 0.3.3 cuts a long report, so it
    gets one rule at a time; only a broken rule has a long report.
    """
    alone = HOUSE_RULE.sub(lambda rule: rule[0] if rule["name"] == name else "", rules)
    try:
        return name in cfn_guard_rs.run_checks(template, alone).compliant
    except json.JSONDecodeError:
        return False


def test_the_template_keeps_every_house_rule(translated, rules):
    """No rule is broken, and each rule finds resources to check."""
    sentences = {rule["name"]: rule["sentence"] for rule in HOUSE_RULE.finditer(rules)}
    assert {} == {
        name: sentence for name, sentence in sentences.items() if not keeps(translated, rules, name)
    }


def test_the_stack_stays_small(translated):
    """
    The number of resources has a limit, because an operator pays for, reads and maintains each.
    """
    kinds = Counter(resource["Type"] for resource in translated["Resources"].values())
    assert 90 >= kinds.total()
    assert 16 >= kinds["AWS::CloudWatch::Alarm"]
    assert 9 >= kinds["AWS::Logs::QueryDefinition"]
    assert 1 == kinds["AWS::CloudWatch::Dashboard"]
    assert 40 >= len(translated["Parameters"])
