"""Generated blocks of pages are what the code and the template say: `make pages` writes them."""

from __future__ import annotations

import pytest

from docs.generate.page_blocks import BLOCK_MAKERS, LOADED_TEMPLATE, generated
from local import REPOSITORY
from neuron_emf.cli import COMMANDS
from neuron_wire.catalogue import CATALOGUE_MEMBERS


@pytest.mark.parametrize("page", BLOCK_MAKERS)
def test_generated_blocks_are_what_the_code_says(page):
    """No generated block is edited by hand: `make pages` changes nothing."""
    assert generated(page) == (REPOSITORY / page).read_text(encoding="utf-8")


def text_of(page):
    """A page of reference."""
    return (REPOSITORY / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "row", "names"),
    [
        ("metrics", "`{}`", {member.name for member in CATALOGUE_MEMBERS}),
        ("parameters", "\n- `{}`", {*LOADED_TEMPLATE["Parameters"], *LOADED_TEMPLATE["Outputs"]}),
        ("commands", "`neuron-emf {}", COMMANDS),
    ],
)
def test_everything_that_there_is_is_on_its_page(page, row, names):
    """Also a name that no group, family or condition has."""
    assert [] == sorted(name for name in names if row.format(name) not in text_of(page))
