"""Commands that show what an owner does."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_words.owner_commands import instance_commands, owner_commands

CLUSTER_AND_REGION = ("prod", "us-west-2")
COMMAND_OPTIONS = {
    "-a",
    "-j",
    "-n",
    "-o",
    "--all-containers",
    "--cluster",
    "--family",
    "--machine",
    "--region",
    "--service-name",
    "--services",
    "--tail",
    "--user",
}
ECS = "--cluster prod --services search --region us-west-2"


@pytest.mark.parametrize(
    ("owner", "first"),
    [
        ("slurm:4711 ada", "scontrol show job 4711"),
        ("ml/trainer-0", "kubectl get pod trainer-0 -n ml"),
        ("ml/trainer-0/main", "kubectl get pod trainer-0 -n ml"),
        ("ecs:search/llama/server", f"aws ecs describe-services {ECS}"),
        ("ecs:llama/server",
         "aws ecs list-tasks --cluster prod --family llama --region us-west-2"),
        ("unit:jupyter-ada", "systemctl status jupyter-ada"),
        ("unit:jupyter ada", "systemctl --user --machine=ada@ status jupyter"),
        *((owner, None) for owner in (
            "[unnamed]", "process:python ada", "container:0123456789ab", "slurm:sluid-s5K1KK ada",
            "slurm:47;11 ada", "-n/trainer", "ml/-f", "ml/a/b/c", "ecs:a b/c", "unit:--now",
            "unit:a`b`", "",
        )),
    ],
)  # fmt: skip
def test_commands_by_kind_of_owner(owner, first):
    """The owner's kind decides the commands. A name in another form has no commands."""
    commands = owner_commands(owner, *CLUSTER_AND_REGION)
    assert first == (commands[0].text if commands else None)


@given(
    st.text(max_size=40),
    st.sampled_from(("slurm:{}", "ml/{}", "{}/pod", "ecs:{}/x", "unit:{}")),
    st.text(max_size=20),
    st.text(max_size=20),
)
def test_a_name_cannot_inject_into_a_command(name, kind, cluster, region):
    """A shell reads a command as plain words, and a name never adds an option."""
    for command in owner_commands(kind.format(name), cluster, region):
        words = command.text.split(" ")
        assert words == shlex.split(command.text)
        assert command.text.isprintable()
        assert not any(letter in command.text for letter in "$`;&|<>*?(){}#!~")
        options = {word.partition("=")[0] for word in words if word.startswith("-")}
        assert options <= COMMAND_OPTIONS


def test_commands_contain_only_valid_instance_ids():
    """Commands contain only IDs in EC2's format."""
    (known,) = instance_commands("tags", ["i-0123456789abcdef0", "i-0;reboot"], "us-west-2")
    assert "Values=i-0123456789abcdef0 --query" in known.text
    assert () == instance_commands("tags", ["host-1"], "us-west-2")
