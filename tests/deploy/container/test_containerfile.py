"""
The Containerfile's promises: fixed versions, signed packages, no root, a small image.

The tests run the stage that makes the virtual environment as it is written, without root: `/opt`
and the working directory are folders of the test, and the Python is the running one.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from local import REPOSITORY
from tests.programs import run_program

CONTAINERFILE = REPOSITORY / "deploy/container/Containerfile"
BUILD_TITLE = (
    "# What builds the wheel in the image: the same release as in requirements/dev.txt "
    "(a test compares)."
)
MOST_MIB = 52  # size of the environment with compiled modules; measured: 49


def stages():
    """
    Return the instructions before the first FROM and of each stage, as pairs of name and text.
    """
    text = re.sub(r"(?m)^\s*#.*\n", "", CONTAINERFILE.read_text("utf-8"))
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    instructions = [[]]
    for name, _, rest in (line.partition(" ") for line in lines if line.strip()):
        if name == "FROM":
            instructions.append([])
        instructions[-1].append((name, rest.strip()))
    return instructions


ARGUMENTS, EMITTER, TOOLS, DELIVERED = stages()


def texts(stage, name):
    return [text for instruction, text in stage if instruction == name]


def values(stage, name):
    """Return the values that ARG or ENV sets."""
    pairs = (word.partition("=") for text in texts(stage, name) for word in shlex.split(text))
    return {key: value for key, _, value in pairs}


def sources(text):
    """Return the operands of a COPY without its target, or none if it copies from another stage."""
    return [] if text.startswith("--from") else text.split()[:-1]


def test_hadolint_finds_nothing(deploy_programs):
    """hadolint finds no fault in the Containerfile or in its shell commands."""
    ended = run_program([deploy_programs / "hadolint", "--no-color", CONTAINERFILE])
    assert 0 == ended.returncode
    assert "" == ended.stdout


def test_every_version_is_fixed():
    """
    Versions are fixed: the base to its patch release, tools by version and signing key, Python by
    hashes.
    """
    base = values(ARGUMENTS, "ARG")["BASE"]
    assert re.fullmatch(r"public\.ecr\.aws/docker/library/python:3\.\d+\.\d+-slim-\w+", base)
    assert all(stage[0][1].startswith("${BASE}") for stage in (EMITTER, TOOLS, DELIVERED))
    tools = values(TOOLS, "ARG")
    assert re.fullmatch(r"[0-9A-F]{40}", tools["NEURON_KEY"])
    assert re.fullmatch(r"\d+\.\d+\.\d+\.\d+", tools["NEURON_TOOLS_VERSION"])
    (fetching,) = texts(TOOLS, "RUN")
    assert "[signed-by=${NEURON_KEY}]" in fetching
    assert 2 == fetching.count("Dir::Etc::SourceParts=-"), "no other list of packages"
    installed = re.findall(r"pip.*? install (.*?)(?: && |$)", " && ".join(texts(EMITTER, "RUN")))
    assert 3 == len(installed)
    assert all("--no-deps" in words for words in installed)
    assert all("--require-hashes" in words or "--no-index" in words for words in installed)


def test_the_wheel_is_built_by_what_the_tests_build_it_with(golden):
    """build.txt has the pin of requirements/dev.txt; `--update-golden` writes it."""
    pins = (REPOSITORY / "requirements/dev.txt").read_text("utf-8")
    pin = re.search(r"^setuptools==(?:[^\n]*\\\n)+[^\n]*$", pins, re.MULTILINE)[0]
    golden(CONTAINERFILE.with_name("build.txt"), f"{BUILD_TITLE}\n{pin}\n")


def test_it_does_not_run_as_root_and_fetches_nothing():
    """
    The image runs as a user number, because Kubernetes refuses runAsNonRoot for a name, and has no
    download tools.
    """
    (user,) = texts(DELIVERED, "USER")
    assert all(int(number) >= 1000 for number in user.split(":"))
    names = [name for name, _ in DELIVERED]
    assert "RUN" not in names[names.index("USER") :]
    commands = " ".join(texts(DELIVERED, "RUN"))
    assert not re.search(r"\b(apt|apt-get|dpkg|pip|curl|wget)\b", commands)
    assert [] == [text for text in texts(DELIVERED, "COPY") if sources(text)]


def test_a_builder_sees_only_what_is_copied():
    """.dockerignore excludes environments, credentials and tests of a clone from every layer."""
    lines = (REPOSITORY / ".dockerignore").read_text("utf-8").splitlines()
    copied = {source for text in texts(EMITTER, "COPY") for source in sources(text)}
    assert "*" in lines
    assert copied == {line[1:] for line in lines if line.startswith("!")}


@pytest.fixture(scope="module")
def environment(shared_folder):
    """Return the virtual environment, made once for all workers."""
    return shared_folder("container-stage", carry_out) / "opt" / "neuron-emf"


def carry_out(root):
    """Run the instructions of the stage, with folders of *root* for /opt and /source."""
    opt = root / "opt"
    source = root / "source"
    opt.mkdir()
    source.mkdir()
    variables = {**os.environ, **values(EMITTER, "ENV")}
    variables.pop("PIP_NO_CACHE_DIR")  # a builder starts without a cache, a test may use one
    variables.pop("PYTHONPATH", None)
    variables["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for name, text in EMITTER:
        for path in map(REPOSITORY.joinpath, sources(text) if name == "COPY" else ()):
            if path.is_dir():
                target = source / text.split()[-1]
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(path, target, dirs_exist_ok=True, ignore=ignored)
            else:
                shutil.copy(path, source)
        if name == "RUN":
            command = ["/bin/sh", "-c", text.replace("/opt/", f"{opt}/")]
            ended = run_program(command, cwd=source, env=variables, stdin=subprocess.DEVNULL)
            assert 0 == ended.returncode, ended.stdout + ended.stderr


@pytest.mark.proof
def test_the_environment_is_small_and_can_call_its_services(environment):
    """
    The environment has no installer and no compiler. boto3 has only the services that the emitter
    calls or needs for credentials.
    """
    paths = list(environment.rglob("*"))
    assert not {"pip", "setuptools", "wheel", "gcc"} & {path.name for path in paths}
    used = sum(path.stat().st_blocks * 512 for path in paths if not path.is_symlink())
    assert 20 < used / (1 << 20) < MOST_MIB
    program = (
        "import botocore.session as b\n"
        "s = b.get_session()\n"
        "for name in ('logs', 'sts', 'sso', 'sso-oidc', 'signin'):\n"
        "    s.create_client(name, region_name='us-west-2')\n"
        "print(*sorted(s.get_available_services()))\n"
    )
    variables = {"PATH": os.defpath, "HOME": str(environment)}
    ended = run_program([environment / "bin/python", "-c", program], env=variables)
    assert 0 == ended.returncode
    assert "" == ended.stderr
    assert ["logs", "signin", "sso", "sso-oidc", "sts"] == ended.stdout.split()
