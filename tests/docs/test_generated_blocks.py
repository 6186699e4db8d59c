"""Generated blocks of pages are those that `make pages` writes from code and template."""

from __future__ import annotations

import re

import pytest

from docs.generate.page_blocks import BLOCK_MAKERS, LOADED_TEMPLATE, generated
from docs.generate.sentences import sentences
from local import REPOSITORY
from neuron_emf.cli import COMMANDS
from neuron_wire.catalogue import CATALOGUE_MEMBERS


@pytest.mark.parametrize("page", BLOCK_MAKERS)
def test_generated_blocks_match_the_code(page):
    """`make pages` changes no page, because no generated block is edited by hand."""
    assert generated(page) == (REPOSITORY / page).read_text(encoding="utf-8")


def text_of(page):
    """Return the text of a page of reference."""
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
    """Each name is on its page, also a name without a group, family or condition."""
    assert [] == sorted(name for name in names if row.format(name) not in text_of(page))


def test_every_sentence_is_in_the_file_of_sentences(golden):
    """
    A reader finds the sentences of the product in one file, with a value wherever one is computed.

    A new sentence gets an example in the file itself: --update-golden adds it with <names>.
    """
    path = REPOSITORY / "tests" / "data" / "sentences.txt"
    golden(path, sentences(REPOSITORY, path.read_text("utf-8")))
    without_example = re.compile(r"<[a-z_]\w*[^<>]*>|%s|\{\w+\}", re.IGNORECASE)
    assert [] == without_example.findall(path.read_text("utf-8"))
