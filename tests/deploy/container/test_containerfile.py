"""What the Containerfile promises, read from it: fixed versions, no root, no shell between."""

from __future__ import annotations

import re
from pathlib import Path

from tests.deploy.container.containerfile import (
    ARGUMENTS,
    CONTAINERFILE,
    DELIVERED,
    EMITTER,
    ROOT,
    STAGES,
    TOOLS,
)
from tests.programs import run_program

BUILD_TITLE = (
    "# What builds the wheel in the image: the same release as in requirements/dev.txt "
    "(a test compares)."
)
BUILD_PINS = ROOT / "deploy" / "container" / "build.txt"


def pinned(text, name):
    """One pin with its hashes, without comments."""
    found = re.search(rf"^{name}==(?:[^\n]*\\\n)+[^\n]*$", text, re.MULTILINE)
    assert found, f"no pin of {name}"
    return found[0]


def test_hadolint_has_nothing_to_say(deploy_programs):
    """The rules of Containerfiles, with the shell in them."""
    ended = run_program([deploy_programs / "hadolint", "--no-color", CONTAINERFILE])
    assert (0, "") == (ended.returncode, ended.stdout)


def test_every_version_is_fixed():
    """
    The base to its patch release, the key by its whole fingerprint, the tools by their version,
    all of Python by hashes.
    """
    assert re.fullmatch(
        r"public\.ecr\.aws/docker/library/python:3\.\d+\.\d+-slim-\w+", ARGUMENTS["BASE"]
    )
    assert ["${BASE}"] * 3 == [stage.base for stage in STAGES]
    tools = TOOLS.values("ARG")
    assert re.fullmatch(r"[0-9A-F]{40}", tools["NEURON_KEY"])
    assert re.fullmatch(r"\d+\.\d+\.\d+\.\d+", tools["NEURON_TOOLS_VERSION"])
    assert tools["NEURON_REPOSITORY"].startswith("https://")
    installed = re.findall(r"pip.*? install (.*?)(?: && |$)", " && ".join(runs(EMITTER)))
    assert 3 == len(installed)
    assert all("--require-hashes" in one or "--no-index" in one for one in installed)
    assert all("--no-deps" in one for one in installed)


def test_the_wheel_is_built_by_what_the_tests_build_it_with(golden):
    """
    build.txt is the pin of requirements/dev.txt, so that one of them cannot grow old alone;
    `--update-golden` writes it.
    """
    found = pinned((ROOT / "requirements" / "dev.txt").read_text("utf-8"), "setuptools")
    golden(BUILD_PINS, f"{BUILD_TITLE}\n{found}\n")


def test_the_list_of_packages_must_be_signed_with_the_pinned_key():
    """And nothing else is asked for packages in that stage."""
    (run,) = runs(TOOLS)
    assert "[signed-by=${NEURON_KEY}]" in run
    assert 2 == run.count("Dir::Etc::SourceParts=-")
    assert not re.search("allow-unauthenticated|trusted=yes|AllowInsecure|--insecure", run)


def test_the_delivered_stage_takes_two_things_and_installs_nothing():
    """neuron-monitor and the virtual environment: no package manager runs, nothing is fetched."""
    assert [
        ("tools", "/tools/opt/aws/neuron/bin/neuron-monitor"),
        ("emitter", "/opt/neuron-emf"),
    ] == [(one.flags["from"], one.operands[0]) for one in DELIVERED.all("COPY")]
    assert [] == DELIVERED.all("ADD")
    assert not re.search(r"\b(apt|apt-get|dpkg|pip|curl|wget)\b", " ".join(runs(DELIVERED)))


def test_it_does_not_run_as_root():
    """By number: Kubernetes refuses runAsNonRoot for a name. The user is the last that is set."""
    (user,) = DELIVERED.all("USER")
    uid, _, gid = user.text.partition(":")
    assert int(uid) >= 1000
    assert int(gid) >= 1000
    order = [one.name for one in DELIVERED.instructions]
    assert "RUN" not in order[order.index("USER") :]
    assert f"--owner={uid} --group={gid} --mode=0700 /var/lib/neuron-emf" in " ".join(
        runs(DELIVERED)
    )


def test_the_emitter_is_the_first_process():
    """In the form without a shell: a shell would take the signals and pass none on."""
    assert [["neuron-emf"]] == [one.words for one in DELIVERED.all("ENTRYPOINT")]
    assert [["run"]] == [one.words for one in DELIVERED.all("CMD")]
    (health,) = DELIVERED.all("HEALTHCHECK")
    options, _, command = health.text.partition(" CMD ")
    assert '["neuron-emf", "check", "--quick"]' == command
    assert {"--interval=60s", "--timeout=10s", "--start-period=180s", "--retries=3"} == set(
        options.split()
    )


def test_what_is_copied_is_all_that_a_builder_sees():
    """
    .dockerignore takes everything away but what COPY names, so neither environments nor
    credentials in a clone get into a layer, and a changed test builds nothing anew.
    """
    kept = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line.startswith("!")
    }
    copied = {
        source
        for stage in STAGES
        for one in stage.all("COPY")
        if "from" not in one.flags
        for source in one.operands[:-1]
    }
    assert copied == kept
    assert [] == [source for source in sorted(copied) if not Path(ROOT, source).exists()]
    assert "\n*\n" in (ROOT / ".dockerignore").read_text("utf-8")


def runs(stage):
    """The text of each RUN."""
    return [one.text for one in stage.all("RUN")]
