"""The devices behind each index of a Slurm resource, from gres.conf."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.owners.gres_files import read_gres_files

ALL_DEVICES = [{device} for device in range(16)]
TWO_CARDS = "Name=gpu MultipleFiles=/dev/neuron[0-1]\nname=gpu multiplefiles=/dev/neuron[2,3]"


def machine(root, text, devices=16):
    """Return a machine with devices and the gres.conf *text*."""
    (root / "dev").mkdir()
    for device in range(devices):
        (root / f"dev/neuron{device}").touch()
    (root / "etc/slurm").mkdir(parents=True)
    (root / "etc/slurm/gres.conf").write_text(text)
    return root


@given(st.permutations(range(16)), st.lists(st.integers(1, 5), min_size=4, max_size=4))
def test_an_index_is_a_position_among_the_files_of_gres_conf(tmp_path_factory, order, lengths):
    """An index is the position among gres.conf's files, in any order and in ranges."""
    lines = []
    listed = []
    for place, length in enumerate(lengths):
        part = order[len(listed) : len(listed) + length]
        listed += part
        if place % 2:
            lines += [f"Name=neuron File=/dev/neuron{device}  # {device}" for device in part]
        elif part:
            lines.append(f"Name=neuron File=/dev/neuron[{','.join(map(str, part))}]")
    root = machine(tmp_path_factory.mktemp("host", numbered=True), "\n".join(lines))
    expected = {"neuron": [{device} for device in listed]} if listed else {}
    assert expected == read_gres_files(root, "n1").devices


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Name=gpu File=/dev/neuron[4-15]", {"gpu": ALL_DEVICES[4:]}),
        ("AutoDetect=nrt", {"gpu": ALL_DEVICES}),
        ("NodeName=n[1-4] AutoDetect=NRT", {"gpu": ALL_DEVICES}),
        ("AutoDetect=nrt\nName=gpu File=/dev/neuron[1,0]", {"gpu": []}),
        ("AutoDetect=nvml", {"gpu": []}), ("AutoDetect=off", {}),
        (TWO_CARDS, {"gpu": [{0, 1}, {2, 3}]}), ("Name=gpu Count=4", {}),
        ("Name=gpu File=/dev/nvidia0", {}),
        ("Name=gpu File=/dev/neuron0,/dev/nvidia0", {"gpu": []}),
        ("Name=gpu Type=a File=/dev/neuron0\nName=gpu Type=b File=/dev/neuron1", {"gpu": []}),
        ("Name=gpu Count=2 File=/dev/neuron0", {"gpu": []}),
        ("Name=gpu \\\n File=/dev/neuron1", {"gpu": [{1}]}),
        ("NodeName=n[2-9] Name=gpu File=/dev/neuron1\nNodeName=n1 Name=gpu File=/dev/neuron0",
         {"gpu": ALL_DEVICES[:1]}),
        ("NodeName=n2 Name=gpu File=/dev/neuron1", {"gpu": []}),
        ("Include more.conf\nName=gpu File=/dev/neuron0", {"gpu": [{7}, {0}]}),
        ("include /etc/slurm/more.conf", {"gpu": [{7}]}), ("include gres.conf", {}),
    ],
)  # fmt: skip
def test_only_a_sure_order_of_files_is_used(tmp_path, text, units):
    """A resource without a certain order of files has no indexes; one without files is absent."""
    root = machine(tmp_path, text)
    (root / "etc/slurm/more.conf").write_text("Name=gpu File=/dev/neuron7")
    assert units == read_gres_files(root, "n1.example").devices


def test_the_file_is_next_to_slurm_conf_or_unique(tmp_path, monkeypatch):
    """gres.conf is next to SLURM_CONF or the only one: of two different files, none is read."""
    root = machine(tmp_path, "Name=gpu File=/dev/neuron1")
    other = root / "opt/slurm/etc/gres.conf"
    other.parent.mkdir(parents=True)
    other.write_text("Name=gpu File=/dev/neuron2")
    assert {} == read_gres_files(root, "n1").devices
    monkeypatch.setenv("SLURM_CONF", "/opt/slurm/etc/slurm.conf")
    assert {"gpu": [{2}]} == read_gres_files(root, "n1").devices
