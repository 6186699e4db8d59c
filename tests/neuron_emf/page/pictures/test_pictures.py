"""The pictures that the pages show are there, of their window's size, and small."""

from __future__ import annotations

import struct

import pytest

MOST_BYTES = 250_000
SIZE = 1440, 900


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("scene", ["page", "page-cores"])
def test_a_picture_is_a_png_of_the_window(repository, scene, scheme):
    """`python -m tests.neuron_emf.page.pictures` takes it; at most 250,000 bytes."""
    content = (repository / "docs" / "images" / f"{scene}-{scheme}.png").read_bytes()
    assert b"\x89PNG\r\n\x1a\n" == content[:8]
    assert SIZE == struct.unpack(">II", content[16:24])
    assert MOST_BYTES >= len(content)
