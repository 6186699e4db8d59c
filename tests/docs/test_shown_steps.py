"""
Steps of the tutorial and the how-to pages do what the pages show, or a page says who tried them.

`tests.docs.shown_blocks` has the convention, `tests.docs.step_places` the places in which steps
run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial

import pytest

from local import REPOSITORY
from tests.docs.shown_blocks import STEP_PAGES, blocks_of, files_of
from tests.docs.step_places import PLACE_MAKERS
from tests.programs import run_program

EACH_PAGE_OF_STEPS = pytest.mark.parametrize("page", STEP_PAGES, ids=lambda page: page.stem)
TOGETHER = [
    pytest.param(page, place, id=f"{page.stem}: {place}")
    for page in STEP_PAGES
    for place in dict.fromkeys(block.place for block in blocks_of(page))
    if place in PLACE_MAKERS
]
OF_THIS_RUN = {
    r"/\S+/bin/neuron-monitor": "/opt/aws/neuron/bin/neuron-monitor",
    r"/\S+/\.programs/neuron-monitor": "/opt/aws/neuron/bin/neuron-monitor",
    r"answered within [0-9.]+ s": "answered within 0.3 s",
    r"[0-9]+ MiB free": "72220 MiB free",
}
"""Figures that differ in each run, and their replacement on a page."""
AWAITED_REPORTS = 2
MOST_INDENT = 40
STOPPED = {0}
STOPPED_PIPE = {0, -signal.SIGTERM, 128 + signal.SIGTERM}
"""A shell that waits for several processes is stopped itself."""


@EACH_PAGE_OF_STEPS
def test_a_page_names_the_steps_that_are_not_run(page):
    """
    A page whose steps are not run links to what was tried instead, and the place of each step
    exists.
    """
    steps = [block for block in blocks_of(page) if block.language in ("sh", "bash", "console")]
    assert {block.place for block in steps} <= {None, *PLACE_MAKERS}
    if any(block.place is None for block in steps):
        assert "reference/support.md)" in page.read_text("utf-8")


@EACH_PAGE_OF_STEPS
def test_what_a_page_shows_of_a_file_is_in_the_file(page):
    """Lines that a page shows of a file are in the file, with one common indentation."""
    for block in blocks_of(page):
        if "shows" in block.notes:
            path = REPOSITORY / block.notes["shows"]
            assert path.is_file(), f"{block.where}: {block.notes['shows']} does not exist"
            assert is_excerpt(block.text, path.read_text("utf-8")), (
                f"{block.where} differs from {block.notes['shows']}"
            )


def is_excerpt(text, whole):
    """Return True if the lines of *text* are consecutive in *whole*, indented as a whole."""
    widths = range(MOST_INDENT)
    return any(f"\n{textwrap.indent(text, ' ' * width)}" in f"\n{whole}" for width in widths)


@pytest.mark.proof
@pytest.mark.parametrize(("page", "place"), TOGETHER)
def test_the_steps_of_a_page_do_what_it_states(page, place, short_folder, request):
    """Blocks of one place run in order as they are written, and print what the page shows."""
    with PLACE_MAKERS[place](short_folder, request) as prepared:
        for name, text in files_of(page).items():
            path = short_folder / name
            assert path.resolve().is_relative_to(short_folder.resolve())
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        printed = None
        for block in blocks_of(page):
            if block.language == "sh":
                printed = done(block, prepared) if block.place == place else None
            elif "prints" in block.notes and printed is not None:
                compare(block, printed, request.config.getoption("--update-golden"))


def done(block, place):
    """Run a block as it is written; return its output."""
    place.truth.unlink(missing_ok=True)
    watched = {"NEURON_SIM": place.play(place.truth)} if block.runs_until_stopped else {}
    with subprocess.Popen(
        ["bash", "-eu", "-c", block.text],
        cwd=place.folder,
        env={**place.variables, **watched},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        allowed = {0}
        try:
            if block.runs_until_stopped:
                wait_for_reports(process, place)
                os.killpg(process.pid, signal.SIGTERM)
                allowed = STOPPED_PIPE if "|" in block.text else STOPPED
            printed, _ = process.communicate(timeout=place.patience_s)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode in allowed, f"{block.where}:\n{block.text}\n{printed}"
    return printed


def wait_for_reports(process, place):
    """Wait until the monitor has written two reports, the process has ended or patience is over."""
    until_s = time.monotonic() + place.patience_s
    while time.monotonic() < until_s and process.poll() is None:
        if (
            place.truth.exists()
            and len(place.truth.read_text("utf-8").splitlines()) >= AWAITED_REPORTS
        ):
            return
        time.sleep(0.05)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    pytest.fail(f"{AWAITED_REPORTS} reports were not read: {process.communicate()[0]}")


def compare(block, printed, update):
    """Compare the page with the output; --update-golden writes the page."""
    text = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    for pattern, shown in OF_THIS_RUN.items():
        text = re.sub(pattern, shown, text)
    if update:
        whole = block.page.read_text("utf-8")
        fence = "<!-- prints -->\n```\n"
        block.page.write_text(
            whole.replace(f"{fence}{block.text}```", f"{fence}{text}```", 1), "utf-8"
        )
    else:
        assert text == block.text, block.where


def test_the_example_of_contributing_applies_and_its_test_passes(tmp_path):
    """The patch of CONTRIBUTING applies to this tree, and the test that it adds passes."""
    page = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    (patch,) = re.findall(r"^```diff\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    copied = ("emitter", "lambda", "tests")
    unused = shutil.ignore_patterns("__pycache__", "data", "recorded", "neuron_emf")
    for path in REPOSITORY.iterdir():
        if path.name in copied:
            shutil.copytree(path, tmp_path / path.name, ignore=unused)
        elif not path.name.startswith("."):
            (tmp_path / path.name).symlink_to(path)
    git = partial(
        subprocess.run,
        input=patch,
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)},
    )
    # the patch is not applied to this tree yet
    if git(["git", "apply", "--reverse", "--check"]).returncode:
        applied = git(["git", "apply"])
        assert applied.returncode == 0, applied.stderr
    (path,) = re.findall(r"^\+\+\+ b/(tests/.+)$", patch, re.MULTILINE)
    (name,) = re.findall(r"^\+def (test_\w+)", patch, re.MULTILINE)
    command = [sys.executable, "-m", "pytest", "-q", "--noconftest", f"{path}::{name}"]
    ended = run_program(command, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout
