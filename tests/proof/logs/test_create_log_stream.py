"""CreateLogStream of the loopback CloudWatch Logs, beside the words it rests on."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from proof.logs.asking import INVALID, NOT_FOUND, NOW_S, PLACE, error_in, put
from proof.logs.documentation import quotes_in, says, text_at
from proof.logs.rules import QUOTAS

CREATE = "CreateLogStream"


def create(client, **place):
    """Make a stream."""
    return client.create_log_stream(**{**PLACE, **place})


@says("ResourceNotFoundException", "The specified resource does not exist.")
def test_a_group_is_not_made_on_the_way(service, client):
    """It must be there."""
    assert NOT_FOUND == error_in(lambda: create(client, logGroupName="/other"))
    assert ["/neuron-emf/records"] == list(service.rules.groups)


@pytest.mark.parametrize("name", ["", "a:b", "a*", "x" * 513])
@says(
    CREATE,
    "Log stream names can be between 1 and 512 characters long.",
    "Don't use ':' (colon) or '*' (asterisk) characters.",
)
def test_a_name_has_its_bounds(name, service, client):
    """What PutLogEvents could not be asked for is not made."""
    assert INVALID == error_in(lambda: create(client, logStreamName=name))
    create(client, logStreamName="x" * 512)
    assert 2 == len(service.rules.lines())


@says(
    CREATE,
    "There is a limit of 50 TPS on CreateLogStream operations, after which transactions are"
    " throttled.",
)
def test_50_streams_are_made_a_second(service, client):
    """A failed call counts too; half a second later there are 25 more."""
    now_s = NOW_S
    service.rules.clock = lambda: now_s
    service.rules.quotas = QUOTAS
    with pytest.raises(ClientError, match="AlreadyExists"):
        create(client)
    for number in range(49):
        create(client, logStreamName=f"early-{number}")
    throttled = ("ThrottlingException", 400)
    assert throttled == error_in(lambda: create(client, logStreamName="one too many"))
    now_s += 0.5
    for number in range(25):
        create(client, logStreamName=f"late-{number}")
    assert throttled == error_in(lambda: create(client, logStreamName="one too many"))
    put(client, (0, "not concerned"))
    assert "one too many" not in service.rules.lines()


@pytest.mark.parametrize("quote", quotes_in(globals()), ids=str)
def test_the_model_says_what_is_quoted_of_its_streams(quote):
    """Word for word, in the version of the SDK that is installed."""
    assert quote.words in text_at(quote.place)
