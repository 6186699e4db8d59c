"""Fault messages in the kernel log."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.kernel.detector import (
    MAX_FAULT_CHARS,
    MAX_WORD_CHARS,
    HardwareFault,
    read_faults,
)
from neuron_emitter.lines.drafts import present
from tests.neuron_emitter.kernel.kernel_logs import REAL

DETECTED_AT_S = 1_760_000_000.5
KNOWN_CODES = [
    "SRAM_UNCORRECTABLE_ERROR",
    "NC_UNCORRECTABLE_ERROR",
    "HBM_UNCORRECTABLE_ERROR",
    "DMA_ERROR",
    "HANG_ON_COLLECTIVES",
]


def test_the_documented_message_is_read_whole():
    """The documented message is read with code, device, core, serial number and action."""
    expected = HardwareFault(
        at_s=DETECTED_AT_S,
        code="SRAM_UNCORRECTABLE_ERROR",
        text=REAL,
        device=0,
        device_core=1,
        serial_number="19fcda00f5ff6eb9",
        action="TERMINATE_INSTANCE",
    )
    assert [expected] == read_faults(REAL, DETECTED_AT_S)


@pytest.mark.parametrize("code", [*KNOWN_CODES, "SOMETHING_NEW"])
def test_every_code_is_a_fault_also_without_a_member(code):
    """Any code is a fault, whatever text is around it, as in AWS's own detector."""
    for text in (
        f"NEURON_HW_ERR={code}",
        f"kernel: NEURON_HW_ERR={code} affecting neuron devices",
        f"2026-11-22T00:00:00Z neuron0: NEURON_HW_ERR={code} device=0",
    ):
        (detected,) = read_faults(text, DETECTED_AT_S)
        assert code == detected.code
        assert detected.device is None
        assert detected.serial_number is None
        assert detected.action is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "neuron: all is well",
        "NEURON_HW_ERR SRAM_UNCORRECTABLE_ERROR",
        'audit: type=1309 a0="grep" a1="NEURON_HW_ERR=DMA_ERROR"',
        "XNEURON_HW_ERR=DMA_ERROR",
    ],
)
def test_a_text_that_resembles_a_fault_is_not_one(text):
    """A text that only resembles the mark is not a fault, such as an audit record of a search."""
    assert [] == read_faults(text, DETECTED_AT_S)


@pytest.mark.parametrize("index", ["-1", "1e3", "99999", "0x1", "\u0663", "", "1;rm"])
def test_an_invalid_index_is_unknown(index):
    """An index that is not an ASCII number, or too high for any instance, is unknown."""
    (detected,) = read_faults(f"NEURON_HW_ERR=DMA_ERROR nd-id={index}", DETECTED_AT_S)
    assert detected.device is None


def test_the_first_of_two_members_counts():
    """The first of repeated members counts: appended text cannot change the message."""
    (detected,) = read_faults("NEURON_HW_ERR=A nd-id=1 nd-id=2 action=X action=Y", DETECTED_AT_S)
    assert 1 == detected.device
    assert "X" == detected.action


MARKED_TEXTS = st.builds(
    lambda code, device: f"NEURON_HW_ERR={code} nd-id={device}",
    st.sampled_from(KNOWN_CODES),
    st.integers(0, 15),
)


@given(st.lists(MARKED_TEXTS | st.sampled_from(["", "nc-id=1", "neuron: all is well"]), max_size=6))
def test_each_line_of_a_message_with_the_mark_is_a_fault(lines):
    """Each marked line of a message is a fault with its own code and device."""
    faults = read_faults("\n".join(lines), DETECTED_AT_S)
    assert [line for line in lines if line.startswith("NEURON")] == [
        f"NEURON_HW_ERR={fault.code} nd-id={fault.device}" for fault in faults
    ]


@given(st.text(max_size=2000), st.text(max_size=2000))
def test_the_event_of_any_message_is_short_and_printable(before, behind):
    """The event of any message is short and printable."""
    detected = read_faults(f"{before} NEURON_HW_ERR={behind}", DETECTED_AT_S)[0]
    words = [detected.code, detected.serial_number or "", detected.action or ""]
    assert all(len(word) <= MAX_WORD_CHARS for word in words)
    assert len(detected.text) <= MAX_FAULT_CHARS
    shown = [value for value in detected.details().values() if isinstance(value, str)]
    assert all(text.isprintable() for text in [*shown, detected.sentence()])
    assert detected.details() == {
        name: value for name, value in present(**detected.details()).items() if value is not None
    }
