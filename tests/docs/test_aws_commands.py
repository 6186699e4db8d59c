"""
No command of the AWS CLI on a page has a typo that AWS would have to tell us.

Nothing here is run on AWS. Each call is read as the CLI reads it and validated by botocore's
own models: services, operations, options, JSON and shorthand, required members, listed values.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.aws_calls import ANSWER, calls_in, calls_of, mentions_of
from tests.docs.aws_model import fault_of, is_known
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
        **dict.fromkeys(made),
        **{name: (ROOT / name).read_text("utf-8") for name in shown},
        **files_of(page),
    }


@pytest.mark.timeout(60)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_the_aws_cli_could_be_made(page):
    """In blocks and between backticks."""
    files = files_at_hand(page)
    assert [] == [fault for fault in (fault_of(call, files) for call in calls_of(page)) if fault]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_the_aws_cli_that_is_only_named_exists(page):
    """Without options it cannot be checked further."""
    assert [] == [named for named in mentions_of(page) if not is_known(*named)]


def test_every_command_that_a_message_tells_people_to_type_could_be_made():
    """All that `explain` writes about, as the golden messages have it."""
    typed = set()
    for message in sorted((ROOT / "tests" / "data" / "messages").glob("*.txt")):
        typed |= set(re.findall(r"^ +(aws .+)$", message.read_text("utf-8"), re.MULTILINE))
    assert 5 <= len(typed)
    calls = calls_in("```sh\n" + "\n".join(sorted(typed)) + "\n```\n", PAGE)
    assert [] == [fault for fault in (fault_of(call, {}) for call in calls) if fault]


def test_a_name_that_no_service_has_is_unknown():
    """The check above sees what it is for."""
    assert is_known("eks", "create-pod-identity-association")
    assert is_known("logs", "tail")
    assert not is_known("eks", "make-pod-identity-association")
    assert not is_known("elastic", "tail")


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


def test_a_call_that_is_not_made_is_found():
    """What stands behind a command that nobody has here would not be looked at."""
    with pytest.raises(AssertionError, match="1 calls"):
        calls_in("```sh\nsudo aws logs describe-log-groups\n```\n", PAGE)


def test_of_a_file_that_a_step_writes_only_the_options_are_checked():
    """Its content is checked by whoever runs that step."""
    text = "```sh\naws ecs register-task-definition --cli-input-json file://made.json {}\n```\n"
    files = {"made.json": None}
    (right,), (wrong,) = (calls_in(text.format(more), PAGE) for more in ("", "--famly x"))
    assert fault_of(right, files) is None
    assert "no option --famly" in fault_of(wrong, files)
    assert "no file of the page" in fault_of(right, {})


@pytest.mark.parametrize(
    "line",
    [
        "aws logs create-log-group --log-group-name /a --region us-east-1",
        "aws logs tail /a --since 15m --filter-pattern ERROR",
        (
            "aws cloudwatch get-metric-statistics --namespace N --metric-name M --period 60"
            " --statistics Average Maximum --dimensions Name=a,Value=b Name=c,Value=d"
            " --start-time 2026-01-01T00:00:00Z --end-time 2026-01-01T01:00:00Z"
        ),
        "aws cloudformation wait stack-create-complete --stack-name s",
        (
            "aws autoscaling set-instance-protection --instance-ids i-0"
            " --no-protected-from-scale-in --auto-scaling-group-name g"
        ),
        "aws ec2 describe-instances --filters Name=a,Values=b,c Name=d,Values=e",
        "aws ec2 describe-instances --filters \"Name='a, b',Values=[c,d]\"",
        (
            "aws ecs create-service --service-name s --network-configuration"
            " 'awsvpcConfiguration={subnets=[a,b],assignPublicIp=DISABLED}'"
        ),
        "aws iam put-role-policy --role-name r --policy-name p --policy-document '{\"a\": 1}'",
        'aws logs create-log-group --cli-input-json \'{"logGroupName": "/a"}\'',
        "aws lambda invoke --function-name f --payload file://event.json /dev/stdout",
    ],
)
def test_what_the_cli_takes_is_taken(line):
    """Shapes of calls that pages have."""
    (call,) = calls_in(f"```sh\n{line}\n```\n", PAGE)
    assert fault_of(call, {}) is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("aws log create-log-group --log-group-name /a", "no service log"),
        ("aws logs make-log-group --log-group-name /a", "no operation make-log-group"),
        ("aws logs create-log-group --group-name /a", "no option --group-name"),
        ("aws logs create-log-group", "Missing required parameter"),
        ("aws logs create-log-group --log-group-name /a /b", "words that belong to no option"),
        ("aws logs create-log-group --log-group-name /a --output txt", "no output txt"),
        ("aws logs describe-log-groups --query 'a[?'", "no JMESPath"),
        ("aws logs put-retention-policy --log-group-name /a --retention-in-days x", "a number"),
        ("aws logs tail /a --sinse 15m", "no option --sinse"),
        ("aws cloudformation wait stack-made --stack-name s", "waits for nothing"),
        (
            (
                "aws cloudwatch put-metric-alarm --alarm-name a --evaluation-periods 1"
                " --comparison-operator LessThan"
            ),
            "expected one of",
        ),
        (
            (
                "aws cloudwatch put-metric-alarm --alarm-name a --evaluation-periods 1"
                " --comparison-operator LessThanThreshold --dimensions Name=a,Val=b"
            ),
            "no member Val",
        ),
        ("aws ec2 describe-instances --filters Name=a,Values=[b", "expected ]"),
        ("aws ec2 describe-instances --filters Name", "expected NAME=VALUE"),
        ("aws iam put-role-policy --policy-document '{\"a\": }'", "no JSON"),
        ('aws logs create-log-group --cli-input-json \'{"logGroup": "/a"}\'', "Unknown parameter"),
        ("aws logs put-destination-policy --access-policy file://x.json", "no file of the page"),
    ],
)
def test_a_typo_is_found(line, said):
    """Each kind of it, with a word that says which."""
    (call,) = calls_in(f"```sh\n{line}\n```\n", PAGE)
    assert said in str(fault_of(call, {}))
