"""docs/explanation/reliability.md says what the commands printed, and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from benchmarks import record
from proof.reliability.page import COMMANDS, MissingRecordError, page
from proof.soak import account
from proof.soak.__main__ import DRAW, PAINTER


def test_the_page_is_what_the_records_say(golden, repository):
    """No number of docs/explanation/reliability.md was typed."""
    golden(repository / "docs" / "explanation" / "reliability.md", page())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_missing_record_names_its_command(name, tmp_path):
    """Rather a page that cannot be written than one with a hole."""
    figures = shutil.copytree(record.FOLDER, tmp_path / "figures")
    (figures / f"{name}.json").unlink()
    with pytest.raises(MissingRecordError, match=rf"{name}\.json .* run `make {name} RECORD=1`"):
        page(figures)


def test_the_picture_is_the_one_of_the_record(repository):
    """It names what it was drawn from."""
    drawn = record.read("soak").facts["drawn"]
    picture = (repository / "docs" / "images" / "soak.svg").read_text(encoding="utf-8")
    found = re.findall(r"<dc:description>(\w+)</dc:description>", picture)
    assert [account.digest(drawn)] == found


@pytest.mark.timeout(60)
def test_the_picture_can_be_drawn_again(repository, tmp_path):
    """To the byte, by whoever has the environment that draws."""
    if not PAINTER.exists():
        pytest.skip(f"{PAINTER} is missing: `make soak` makes it")
    drawn = tmp_path / "soak.svg"
    subprocess.run([PAINTER, DRAW, record.FOLDER / "soak.json", drawn], check=True)
    assert (repository / "docs" / "images" / "soak.svg").read_bytes() == drawn.read_bytes()
