"""The shorthand of the AWS CLI is read as it was written."""

from __future__ import annotations

import botocore.session
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.docs.aws_shorthand import ShorthandError, read

WORDS = st.text("abcXYZ019-_:/.*", min_size=1, max_size=9)


def shape(service, operation, *path):
    """A member of the input of an operation; in a list, that of its items."""
    model = botocore.session.Session().get_service_model(service)
    found = model.operation_model(operation).input_shape
    for name in path:
        found = found.members[name]
        found = found.member if found.type_name == "list" else found
    return found


FILTER = shape("ec2", "DescribeInstances", "Filters")
VPC = shape("ecs", "CreateService", "networkConfiguration")
TRACKING = shape("ecs", "CreateService", "deploymentConfiguration")


@given(WORDS, st.lists(WORDS, min_size=1, max_size=4), st.booleans())
def test_a_list_is_read_in_both_forms(name, values, in_brackets):
    """`Values=a,b` and `Values=[a,b]`, before another member."""
    joined = ",".join(values)
    written = f"[{joined}]" if in_brackets else joined
    assert {"Values": values, "Name": name} == read(f"Values={written},Name={name}", FILTER)


@given(st.lists(WORDS, min_size=1, max_size=3), WORDS)
def test_structures_nest(subnets, name):
    """With braces, and lists within."""
    text = f"awsvpcConfiguration={{subnets=[{','.join(subnets)}],assignPublicIp={name}}}"
    expected = {"awsvpcConfiguration": {"subnets": subnets, "assignPublicIp": name}}
    assert expected == read(text, VPC)


@given(st.text("abc ,=[]{}", min_size=1, max_size=9))
def test_what_is_quoted_is_one_word(value):
    """Whatever signs it holds."""
    assert {"Name": value} == read(f"Name='{value}'", FILTER)


@pytest.mark.parametrize("found", [0, 100, 200])
def test_numbers_are_numbers(found):
    """Where the model has one."""
    assert {"maximumPercent": found} == read(f"maximumPercent={found}", TRACKING)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Name", "expected NAME=VALUE"),
        ("Nam=a", "no member Nam"),
        ("Name='a", "not closed"),
        ("Name=[a]", "is no list"),
        ("Name=a,", "expected NAME=VALUE"),
        ("Values=[a", "expected ]"),
        ("Values=[a]b", "cannot read b"),
    ],
)
def test_what_is_no_shorthand_is_refused(text, said):
    """With a word that says where."""
    with pytest.raises(ShorthandError, match=said):
        read(text, FILTER)
