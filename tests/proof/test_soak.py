"""What the soak calls growth: a leak of 40 KiB an hour and a descriptor, and not a step."""

from __future__ import annotations

from proof.soak import KIB, MIB, WARM_HOURS, Look, grown


def looks(leak_kib=0, descriptors=11, step_kib=0):
    """Three days, one look an hour."""
    return [
        Look(
            resident=40 * MIB
            + (leak_kib * max(0, hour - WARM_HOURS) + step_kib * (hour > 40)) * KIB,
            descriptors=descriptors if hour > 60 else 11,
            threads=2,
            spool_bytes=MIB,
            is_quiet=True,
        )
        for hour in range(3 * WARM_HOURS)
    ]


def test_what_leaks_is_seen():
    """Each by its name; a heap that takes one step by chance is none."""
    assert [] == grown(looks(step_kib=900))
    assert ["memory"] == [one.split()[0] for one in grown(looks(leak_kib=40))]
    assert ["descriptors"] == [one.split()[0] for one in grown(looks(descriptors=12))]
