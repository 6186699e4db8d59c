"""Instance prices, payment, and the template parameters that set them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aggregator import environment
from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_accounts.payment import (
    MAX_PAID_BY_TYPE_CHARS,
    is_committed,
    paid_by_type,
)
from neuron_accounts.prices import (
    LIST_USD_PER_HOUR,
    MAX_OVERRIDES_CHARS,
    OVERRIDE_NAME,
    PRICE_FILE,
    PRICES_AS_OF,
    ParameterTextError,
    PriceBasis,
    Prices,
    basis_words,
    price_overrides,
)
from neuron_accounts.teams import MAX_TEAMS_CHARS, team_rules
from neuron_emf.command_options import prices
from neuron_emitter.errors import SettingsError
from neuron_words.now_words import price_overrides_line
from proof.factories.records import record
from tests.neuron_wire.wire_records import PARAMETERS, nearly


def team_parts(text):
    """Return cluster, owner and team of each rule in *text*."""
    rules = team_rules(text).rules
    assert all(rule.cluster and rule.owner and rule.team for rule in rules)
    return [(rule.cluster, rule.owner, rule.team) for rule in rules]


PARSERS: dict[str, tuple[Any, ...]] = {
    # parser, expected value of a part, its container, letters of near misses, texts at the limits
    "PriceOverrides": (price_overrides, lambda name, usd: (name, float(usd)), dict,
        "at1.-=/, eE+_\n0T\u0663", MAX_OVERRIDES_CHARS,
        ("trn1.32xlarge=1e2", "TRN1.32xlarge=1", "trn1.32xlarge=1,", "us.east/trn1=1", "/trn1=1",
         "us-east-2/trn2.48xlarge=35.76,trn2.48xlarge=1", "trn1.32xlarge=nan",
         "trn1.32xlarge=99999.999999,-.=00000", "trn1.32xlarge=100000",
         "trn1.32xlarge=1.0000000", "trn1.32xlarge=1\n")),
    "PaidByType": (paid_by_type, lambda *part: part, dict,
        "at1.-=,committed\n", MAX_PAID_BY_TYPE_CHARS,
        ("trn1.32xlarge=committed,", "trn1.32xlarge=reserved", "TRN1=committed",
         "trn1.32xlarge=committed\n")),
    "Teams": (team_parts, lambda *part: tuple(map(str.strip, part)), list,
        "a*:/ |=,'\"\\#\n\u00e9", MAX_TEAMS_CHARS,
        ("a|b=c,", "a|b|c=d", "a|b=c=d", "a|b= ", "a|b=c\n", "!|}=~")),
}  # fmt: skip


@pytest.mark.parametrize("name", PARSERS)
@given(st.data())
def test_a_parser_accepts_what_the_template_accepts(name, data):
    """A parser accepts exactly what the template accepts; the last value of a type counts."""
    parse, part_of, container, letters, longest, limits = PARSERS[name]
    parameter = PARAMETERS[name]
    pattern = re.compile(parameter["AllowedPattern"], re.ASCII)
    accepted = st.from_regex(pattern, fullmatch=True)
    drawn = data.draw(accepted | nearly(accepted, letters) | st.text(letters, max_size=12))
    # No pattern expresses the length.
    assert longest == parameter["MaxLength"]
    for text in (drawn, *limits):
        if len(text) > longest or not pattern.fullmatch(text):
            with pytest.raises(ParameterTextError):
                parse(text)
            continue
        parts = [part_of(*re.split("[|=]", part)) for part in text.split(",") if text]
        assert container(parts) == parse(text)


@given(
    st.lists(st.one_of(st.text(), st.from_regex(OVERRIDE_NAME, fullmatch=True), st.just("a" * 81)))
)
@example(
    ["us-east-2/unknown type", "us-west-2/trn2.48xlarge", "trn2;reboot", "sa-east-1/trn2.3xlarge"]
)
def test_the_suggested_overrides_are_valid(types):
    """The suggested PriceOverrides is valid and has the first five types that it can express."""
    line = price_overrides_line(types)
    _, _, text = line.partition("PriceOverrides=")
    given = price_overrides(text.replace("USD", "1"))
    assert set(given) <= set(types)
    fit = [name for name in types if len(name) <= 80 and OVERRIDE_NAME.fullmatch(name)]
    assert set(fit[:5]) == set(given)
    assert bool(fit) == bool(line)


def test_an_error_names_the_setting_and_the_wrong_part():
    """The error names the option or variable and the wrong part, and shows the correct form."""
    words = r"has 'inf2=1e2', which is not \[REGION/\]TYPE=USD: write it as trn1.32xlarge=13.5"
    with pytest.raises(SettingsError, match=f"--price-overrides {words}"):
        prices("trn1.32xlarge=13.5,inf2=1e2")
    with pytest.raises(SettingsError, match=f"has '{'a' * 40}', which"):
        prices("a" * 50)
    variables = {"TABLE_NAME": "t", "STACK_NAME": "s", "PRICE_OVERRIDES": "trn1=1,inf2=1e2"}
    with pytest.raises(environment.SettingError, match=f"PRICE_OVERRIDES {words}"):
        environment.read_environment(variables)


def test_an_override_goes_before_the_list():
    """An override, even 0, wins over the list. An unlisted type or no cores have no price."""
    overridden = Prices({"trn1.2xlarge": 0.0, "new.large": 6.0})
    assert 0 == overridden.usd_per_core_hour("trn1.2xlarge", 2)
    assert 3 == overridden.usd_per_core_hour("new.large", 2)
    assert LIST_USD_PER_HOUR["us-east-1"]["inf2.xlarge"] == overridden.usd_per_core_hour(
        "inf2.xlarge", 1
    )
    for instance_type, cores in (("other.large", 2), (None, 2), ("new.large", 0)):
        assert overridden.usd_per_core_hour(instance_type, cores) is None
    assert ["new.large", None, None] == [
        overridden.override_of(instance_type, overridden.region)
        for instance_type in ("new.large", "inf2.xlarge", None)
    ]


def test_a_price_is_that_of_the_region():
    """
    A price is that of the record's region, or of the stack's region if the record has none.

    Trainium2 has no list price.
    """
    stack = Prices(region="ap-northeast-1")
    assert [12.98127, 19.4719, 19.4719] == [
        stack.usd_per_core_hour("inf2.48xlarge", 1, region)
        for region in ("us-east-1", "ap-northeast-1", None)
    ]
    assert stack.usd_per_core_hour("trn1.32xlarge", 1) is None
    assert stack.usd_per_core_hour("trn2.48xlarge", 1, "us-east-2") is None


def test_an_override_of_a_region_goes_before_one_of_all():
    """An override for a region wins over an override for all regions, in any order."""
    both = ("trn2.3xlarge=2", "sa-east-1/trn2.3xlarge=3")
    for parts in (both, both[::-1]):
        overridden = Prices(price_overrides(",".join(parts)))
        assert 3 == overridden.usd_per_core_hour("trn2.3xlarge", 1, "sa-east-1")
        assert 2 == overridden.usd_per_core_hour("trn2.3xlarge", 1, "us-east-2")


def test_the_basis_names_list_overrides_and_unpriced_types():
    """The basis names the list's regions and date only if a price came from the list."""
    basis = PriceBasis()
    prices_ = Prices({"trn1.2xlarge": 1.0})
    for instance_type, cores, region in (
        ("trn1.2xlarge", 2, "us-east-1"),
        ("trn2.48xlarge", 64, "us-east-2"),
        (None, 4, None),
    ):
        basis.usd_per_core_hour(prices_, instance_type, cores, region)
    words = basis_words(basis.regions, None, sorted(basis.overridden))
    assert "override of trn1.2xlarge" == words
    assert ["us-east-2/trn2.48xlarge", "us-east-1/unknown type"] == basis.unpriced_names()
    tokyo = PriceBasis()
    tokyo.usd_per_core_hour(prices_, "inf2.48xlarge", 24, "ap-northeast-1")
    basis.fold_basis(tokyo)
    words = basis_words(basis.regions, PRICES_AS_OF, sorted(basis.overridden))
    assert f"list price, ap-northeast-1, {PRICES_AS_OF}; override of trn1.2xlarge" == words


def test_a_price_that_changes_has_a_new_date():
    """The price file has the sum of its prices next to its date, as a reminder to change both."""
    rows = json.loads(PRICE_FILE.read_text("utf-8"))
    usd_per_hour = [row["usd_per_hour"] for row in rows["prices"]]
    assert rows["sum"] == round(sum(usd_per_hour), 5)
    assert len(usd_per_hour) == len({(row["region"], row["type"]) for row in rows["prices"]})
    assert {row["source"] for row in rows["prices"]} == rows["sources"].keys()


@pytest.mark.parametrize(
    ("paid", "by_type", "lifecycle", "instance_type", "expected"),
    [
        ("avoidable", {"trn2.48xlarge": "committed"}, "capacity-block", "trn2.48xlarge", False),
        ("committed", {"inf2.xlarge": "avoidable"}, "spot", "inf2.xlarge", True),
        (None, {"inf2.xlarge": "committed"}, "spot", "inf2.xlarge", True),
        (None, {"trn2.48xlarge": "avoidable"}, "capacity-block", "trn2.48xlarge", False),
        (None, {"inf2.xlarge": "committed"}, "spot", "trn2.48xlarge", False),
        (None, {}, "spot", "trn3.48xlarge", False),
        (None, {}, "capacity-block", "trn1.32xlarge", True),
        (None, {}, "on-demand", "trn2.3xlarge", True),
        (None, {}, None, "trn2u.48xlarge", True),
        (None, {}, "scheduled", "trn3pd98.3xlarge", True),
        (None, {}, "on-demand", "trn1.32xlarge", False),
        (None, {}, None, None, False),
    ],
)
def test_the_most_specific_source_decides_what_is_committed(
    paid, by_type, lifecycle, instance_type, expected
):
    """`--paid`, PaidByType, Lifecycle and type decide in this order; the default is avoidable."""
    instance = record(paid=paid, lifecycle=lifecycle, instance_type=instance_type)
    assert expected == is_committed(instance, by_type)


def test_no_price_is_free():
    """Every list price is above 0: a type without a price is absent, not free."""
    for by_type in LIST_USD_PER_HOUR.values():
        assert all(usd_per_hour > 0 for usd_per_hour in by_type.values())
        assert by_type.keys() <= INSTANCE_TYPES.keys()
    assert all(name == instance_type.name for name, instance_type in INSTANCE_TYPES.items())
