"""What docs/how-to/eks.md says of values and figures is what the chart has."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.deploy.eks.test_chart_rendered import RELEASES


@pytest.fixture(scope="session")
def eks_page(repository):
    """The page's text."""
    return (repository / "docs" / "how-to" / "eks.md").read_text("utf-8")


def test_every_value_on_the_page_is_one_of_the_chart(eks_page, chart):
    """Those that are named with a dot in them; `image.tag` is one."""
    values = yaml.safe_load((chart / "values.yaml").read_text("utf-8"))
    named = {
        (first, second)
        for first, second in re.findall(r"`([a-z]\w+)\.(\w+)(?:: \w+)?`", eks_page)
        if second not in {"md", "json", "yaml"}
    }
    assert ("attribution", "enabled") in named
    assert [] == [f"{one}.{two}" for one, two in sorted(named) if two not in values.get(one, {})]


def test_the_page_has_the_chart_s_memory(eks_page, chart):
    """Asked for, at most, and the heap of neuron-monitor."""
    values = yaml.safe_load((chart / "values.yaml").read_text("utf-8"))
    asked = values["resources"]["requests"]["memory"].removesuffix("Mi")
    most = values["resources"]["limits"]["memory"].removesuffix("Mi")
    assert f"The request is {asked} MiB, the limit {most} " in eks_page
    assert f"keep to {values['monitor']['heapLimit'].removesuffix('MiB')}." in eks_page


def test_the_page_says_what_a_pod_takes_of_a_node(eks_page, chart):
    """Without so much room it waits."""
    values = yaml.safe_load((chart / "values.yaml").read_text("utf-8"))
    cpu, memory = values["resources"]["requests"].values()
    assert f"room for its {cpu} and {memory.removesuffix('Mi')} MiB." in eks_page


def test_the_undoing_needs_no_variable_of_an_earlier_shell(eks_page):
    """It is typed months later."""
    steps = eks_page.partition("**6. Undo.**")[2].partition("```sh\n")[2].partition("```")[0]
    used = re.findall(r"\$\{?(\w+)", steps)
    assert {"ASSOCIATION", "POLICY"} == set(used)
    for name in used:
        assert steps.index(f"\n{name}=$(") < steps.index(f'"${name}"')


def test_settings_that_the_page_says_are_refused_are(eks_page, render):
    """Each has a value of its own."""
    (listed,) = re.findall(r"\((`[^)]+) and the like are refused there\)", eks_page)
    for name in re.findall(r"`([a-z-]+)`", listed):
        assert name in render({"settings": {name: "x"}}).refusal


def test_the_page_names_the_releases_that_are_checked(eks_page, chart):
    """The first is the one below which the chart refuses."""
    assert f"Kubernetes {RELEASES[0]} to {RELEASES[-1]};" in eks_page
    needs = yaml.safe_load((chart / "Chart.yaml").read_text("utf-8"))["kubeVersion"]
    assert f">={RELEASES[0]}.0-0" == needs
