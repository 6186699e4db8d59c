"""Types without a list price: a person is asked once; otherwise a message shows the option."""

from __future__ import annotations

import io

import pytest

from tests.neuron_emf.deploy.fake_cloudformation import FakeCloudFormation

SENTENCE = "trn2 and trn3 have no list price: unless you set one, such as PriceOverrides="
QUESTION = "USD per hour of those you run"
OTHER_PRICE = "inf2.xlarge=0.4"
TRN2 = "us-west-2/trn2.48xlarge=35.76"


class Person(io.StringIO):
    """A person at a terminal who types these lines."""

    def isatty(self):
        """Return True."""
        return True


@pytest.fixture
def asked(deploy, monkeypatch):
    """Return a function that deploys before *stdin*; it gives standard error and the parameter."""

    def call(stdin, *words, fake=None):
        fake = fake or FakeCloudFormation()
        monkeypatch.setattr("sys.stdin", stdin)
        code, _, err = deploy(fake, *words, asks=True)
        assert 0 == code, err
        given = {
            parameter["ParameterKey"]: parameter.get("ParameterValue")
            for request in fake.requests("create_change_set")
            for parameter in request["Parameters"]
        }
        return err, given.get("PriceOverrides")

    return call


@pytest.mark.parametrize(
    ("typed_lines", "words", "expected"),
    [
        (["", "y"], [], ""),
        ([TRN2, "y"], [], TRN2),
        (["TRN2=1", "35.76", f" {TRN2}", "y"], [], TRN2),
        ([TRN2, "y"], [f"PriceOverrides={OTHER_PRICE}"], f"{OTHER_PRICE},{TRN2}"),
        ([f"{TRN2},trn3.48xlarge=50", "y"], ["Mode=kinesis"], f"{TRN2},trn3.48xlarge=50"),
    ],
)
def test_a_person_is_asked_for_missing_prices(asked, typed_lines, words, expected):
    """A person is asked for missing prices, and again after an invalid answer."""
    err, overrides = asked(Person("\n".join([*typed_lines, ""])), *words)
    assert expected == overrides
    assert f"{SENTENCE}us-west-2/trn2.48xlarge=USD" in err
    assert len(typed_lines) - 1 == err.count(QUESTION)
    assert len(typed_lines) - 2 == err.count("which is not [REGION/]TYPE=USD")


@pytest.mark.parametrize(
    ("stdin", "words", "parameters", "is_said"),
    [
        (io.StringIO(), ["--yes"], {}, True),
        (Person(), ["--yes"], {}, True),
        (io.StringIO(), ["--yes", f"PriceOverrides={TRN2}"], {}, False),
        (Person("y\n"), [f"PriceOverrides={OTHER_PRICE},{TRN2}"], {}, False),
        (Person("y\n"), ["PriceOverrides=trn3.48xlarge=50"], {}, False),
        (Person("y\n"), [], {"PriceOverrides": OTHER_PRICE, "Mode": "direct"}, True),
        (Person("y\n"), [], {"PriceOverrides": TRN2, "Mode": "direct"}, False),
        (Person("y\n"), ["--emitters-only"], {}, False),
    ],
)
def test_a_message_replaces_the_question(asked, stdin, words, parameters, is_said):
    """Without a terminal, with --yes or in an upgrade, a message replaces the question."""
    account = (
        FakeCloudFormation(neuron_emf=["UPDATE_COMPLETE"]) if parameters else FakeCloudFormation()
    )
    account.parameters = parameters
    account.ends = "UPDATE_COMPLETE" if parameters else "CREATE_COMPLETE"
    err, _ = asked(stdin, *words, fake=account)
    assert is_said == (SENTENCE in err)
    assert QUESTION not in err
