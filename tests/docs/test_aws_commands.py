"""
No command of the AWS CLI on a page has a typo that AWS would have to tell us.

Nothing here is run on AWS. The AWS CLI's own parser reads each call and botocore validates it:
services, operations, options, JSON and shorthand, required members, listed values.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.aws_calls import ANSWER, calls_in, calls_of, mentions_of
from tests.docs.shown_blocks import DOCS, ROOT, blocks_of, files_of

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PAGE = Path("page.md")
MADE = re.compile(r"(?<=> )[\w./-]+$", re.MULTILINE)


def files_at_hand(page):
    """
    What `file://` finds: what the page lets the reader save, files of the repository that it
    shows, and, as None, what a step that is run writes.
    """
    blocks = blocks_of(page)
    shown = {block.notes["shows"] for block in blocks if "shows" in block.notes}
    made = {name for block in blocks if block.place for name in MADE.findall(block.text)}
    return {
        "event.json": "{}",  # what a function was given: AWS wrote it
        **dict.fromkeys(made),
        **{name: (ROOT / name).read_text("utf-8") for name in shown},
        **files_of(page),
    }


@pytest.mark.timeout(60)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_the_aws_cli_could_be_made(page, fault_of):
    """In blocks and between backticks."""
    files = files_at_hand(page)
    assert [] == [fault for fault in (fault_of(call, files) for call in calls_of(page)) if fault]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_the_aws_cli_that_is_only_named_exists(page, fault_of):
    """Without options it cannot be checked further."""
    faults = [str(fault_of(list(named), {})) for named in mentions_of(page)]
    assert [] == [fault for fault in faults if "Invalid choice" in fault]


def test_every_command_that_a_message_tells_people_to_type_could_be_made(fault_of):
    """All that `explain` writes about, as the golden messages have it."""
    typed = set()
    for message in sorted((ROOT / "tests" / "data" / "messages").glob("*.txt")):
        typed |= set(re.findall(r"^ +(aws .+)$", message.read_text("utf-8"), re.MULTILINE))
    assert 5 <= len(typed)
    calls = calls_in("```sh\n" + "\n".join(sorted(typed)) + "\n```\n", PAGE)
    assert [] == [fault for fault in (fault_of(call, {}) for call in calls) if fault]


def test_the_steps_are_read_by_a_shell():
    """Quotes, variables, loops, pipes and continued lines are the shell's business."""
    text = """
Look at `aws logs tail /a --since 15m`.

```sh
STREAM=$(aws kinesis list-streams --query 'StreamNames[0]' --output text)  # one > none
for name in a b; do
  aws logs create-log-group \\
    --log-group-name "/$name" | sort > /etc/nothing
done
sudo aws --version; rm -rf nothing
aws logs put-destination --target-arn "$STREAM" --destination-name "a > b"
```
"""
    assert calls_in(text, PAGE) == [
        ["kinesis", "list-streams", "--query", "StreamNames[0]", "--output", "text"],
        ["logs", "create-log-group", "--log-group-name", "/a"],
        ["logs", "create-log-group", "--log-group-name", "/b"],
        ["logs", "put-destination", "--target-arn", ANSWER, "--destination-name", "a > b"],
        ["logs", "tail", "/a", "--since", "15m"],
    ]


def test_of_a_file_that_a_step_writes_only_the_options_are_checked(fault_of):
    """Its content is checked by whoever runs that step."""
    text = "```sh\naws ecs register-task-definition --cli-input-json file://made.json {}\n```\n"
    files = {"made.json": None}
    (right,), (wrong,) = (calls_in(text.format(more), PAGE) for more in ("", "--famly x"))
    assert fault_of(right, files) is None
    assert "Unknown options: --famly" in fault_of(wrong, files)
    assert "No such file" in fault_of(right, {})


METRIC_ALARM = "cloudwatch put-metric-alarm --alarm-name a --evaluation-periods 1"
LESS = "--comparison-operator LessThanThreshold"
POLICY = "iam put-role-policy --role-name r --policy-name p --policy-document"
TYPOS = {
    "logs make-log-group --log-group-name /a": "Invalid choice",
    "logs create-log-group --log-group-name /a --group-name /b": "Unknown options: --group-name",
    "logs create-log-group --log-group /a": "required: --log-group-name",
    "logs create-log-group --log-group-name /a --log-group-name /b": "given twice",
    "logs describe-log-groups --query 'a[?'": "JMESPath",
    "logs tail /a --sinse 15m": "Unknown options: --sinse",
    "cloudformation wait stack-made --stack-name s": "Invalid choice",
    "s3 cp a s3://b/c --recursiv": "Unknown options: --recursiv",
    f"{METRIC_ALARM} --comparison-operator LessThan": "expected one of",
    f"{METRIC_ALARM} {LESS} --dimensions Name=a,Val=b": "Unknown parameter",
    f"{METRIC_ALARM} {LESS} --dimensions Name=a": "Missing required parameter",
    f"{POLICY} '{{\"a\": }}'": "no JSON",
}


@pytest.mark.parametrize("line", TYPOS)
def test_a_typo_is_found(line, fault_of):
    """Each kind of it, with a word that says which."""
    (call,) = calls_in(f"```sh\naws {line}\n```\n", PAGE)
    assert TYPOS[line].lower() in str(fault_of(call, {})).lower()
