"""What a kernel message says about broken hardware."""

from __future__ import annotations

from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.kernel.hardware_fault import MAX_TEXT_CHARS, MAX_WORD_CHARS, HardwareFault, read_fault
from emitter.lines.drafts import present
from tests.emitter.kernel.kernel_logs import REAL

AT_S = 1_760_000_000.5
KNOWN = [
    "SRAM_UNCORRECTABLE_ERROR", "NC_UNCORRECTABLE_ERROR", "HBM_UNCORRECTABLE_ERROR", "DMA_ERROR",
    "HANG_ON_COLLECTIVES",
]  # fmt: skip


def test_the_documented_message_is_read_whole():
    """Code, device, core, serial number and action."""
    expected = HardwareFault(
        at_s=AT_S,
        code="SRAM_UNCORRECTABLE_ERROR",
        text=REAL,
        device=0,
        device_core=1,
        serial_number="19fcda00f5ff6eb9",
        action="TERMINATE_INSTANCE",
    )
    assert expected == read_fault(REAL, AT_S)


@pytest.mark.parametrize("code", [*KNOWN, "SOMETHING_NEW"])
def test_every_code_is_a_fault_also_without_a_member(code):
    """As AWS's own detector matches it: whatever stands before and behind."""
    for text in (
        f"NEURON_HW_ERR={code}",
        f"kernel: NEURON_HW_ERR={code} affecting neuron devices",
        f"2026-11-22T00:00:00Z neuron0: NEURON_HW_ERR={code} device=0",
    ):
        found = read_fault(text, AT_S)
        names = "code", "device", "serial_number", "action"
        assert (code, None, None, None) == attrgetter(*names)(found)


@pytest.mark.parametrize(
    "text",
    [
        "", "neuron: all is well", "NEURON_HW_ERR SRAM_UNCORRECTABLE_ERROR",
        'audit: type=1309 a0="grep" a1="NEURON_HW_ERR=DMA_ERROR"', "XNEURON_HW_ERR=DMA_ERROR",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_is_none(text):
    """An audit record that quotes the command of somebody who searches for faults, for one."""
    assert read_fault(text, AT_S) is None


def test_a_message_without_a_code_is_a_fault_without_a_name():
    """Somebody wanted to tell of one."""
    assert "UNNAMED" == read_fault("NEURON_HW_ERR= nd-id=3", AT_S).code
    assert 3 == read_fault("NEURON_HW_ERR= nd-id=3", AT_S).device


@pytest.mark.parametrize("index", ["-1", "1e3", "99999", "0x1", "\u0663", "", "1;rm"])
def test_an_index_that_is_none_is_left_out(index):
    """Also digits that are not ASCII, and numbers that no instance has."""
    assert read_fault(f"NEURON_HW_ERR=DMA_ERROR nd-id={index}", AT_S).device is None


def test_the_first_of_two_members_counts():
    """What is appended to a message cannot change what it began with."""
    found = read_fault("NEURON_HW_ERR=A nd-id=1 nd-id=2 action=X action=Y", AT_S)
    assert (1, "X") == (found.device, found.action)


@given(st.text(max_size=2000), st.text(max_size=2000))
def test_whatever_a_message_says_its_event_is_short_and_printable(before, behind):
    """Control characters, escapes of a terminal, half characters, and lengths without bound."""
    found = read_fault(f"{before} NEURON_HW_ERR={behind}", AT_S)
    words = [found.code, found.serial_number or "", found.action or ""]
    assert all(len(word) <= MAX_WORD_CHARS for word in words)
    assert len(found.text) <= MAX_TEXT_CHARS
    shown = [value for value in found.details().values() if isinstance(value, str)]
    assert all(text.isprintable() for text in [*shown, found.sentence()])
    assert found.details() == {
        name: value for name, value in present(**found.details()).items() if value is not None
    }
