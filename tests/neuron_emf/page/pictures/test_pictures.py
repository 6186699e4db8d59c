"""The pictures that the pages show are there, of their window's size, and small."""

from __future__ import annotations

import struct

import pytest

MOST_BYTES = 250_000
SIZES = {"": (1440, 900), "-narrow": (390, 844)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", SIZES)
@pytest.mark.parametrize("scene", ["page", "page-cores"])
def test_a_picture_is_a_png_of_the_window(repository, scene, window, scheme):
    """`make screenshots` takes it; at most 250,000 bytes."""
    content = (repository / "docs" / "images" / f"{scene}{window}-{scheme}.png").read_bytes()
    assert b"\x89PNG\r\n\x1a\n" == content[:8]
    assert SIZES[window] == struct.unpack(">II", content[16:24])
    assert MOST_BYTES >= len(content)
