"""Fixtures of all tests: golden files, the repository's root, Hypothesis without a clock."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from tests.built_artefact import build_folder, link_runtime_libraries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from local.embedded_aws.emulator import EmbeddedAws
    from tests.hour import RecordedHour

os.environ.pop("AWS_REGION", None)  # it would win over the region that a test sets

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# The same tree gives the same result under any load: no deadline, no health check that reads a
# clock, and the same examples. `make proof` requests fresh examples.
FRESH_EXAMPLES = "FRESH_EXAMPLES" in os.environ
hypothesis.settings.register_profile(
    "neuron-emf",
    deadline=None,
    print_blob=True,
    derandomize=not FRESH_EXAMPLES,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("neuron-emf")
if not FRESH_EXAMPLES:
    # Hypothesis draws constants from the source of every loaded local module. Examples would depend
    # on the tests that a worker ran before.
    vars(providers)["is_local_module_file"] = lambda _path: False


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add a flag that rewrites golden files, and a flag that requires a build."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="Rewrite the golden files with what the code produces now.",
    )
    parser.addoption(
        "--built",
        action="store_true",
        help="Fail, instead of skipping, when .aws-sam/build is missing or older than its source.",
    )


@pytest.fixture(scope="session")
def hour(tmp_path_factory: pytest.TempPathFactory) -> RecordedHour:
    """Return an hour of the rehearsal's fleet, always the same; see `tests.hour`."""
    from tests.hour import make  # noqa: PLC0415 - 0.5 s for few runs

    return make(tmp_path_factory.mktemp("hour"))


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Yield a folder with a short name, so that printed lines wrap as on a page."""
    with tempfile.TemporaryDirectory(prefix="emf-", dir="/tmp") as name:
        yield Path(name)


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the repository's root folder."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def program_of(repository: Path, request: pytest.FixtureRequest) -> Callable[[str, str], Path]:
    """Return a function that finds a program in an environment of `make venvs`."""

    def find_program(environment: str, name: str) -> Path:
        program = repository / environment / "bin" / name
        if not program.exists():
            problem = pytest.fail if request.config.getoption("--built") else pytest.skip
            problem(f"{program} is missing: run `make venvs`")
        return program

    return find_program


@pytest.fixture(scope="session")
def programs(repository: Path) -> list[Path]:
    """Return the embedded AWS and the SAM CLI from the environments of `make venvs`."""
    paths = [
        repository / ".venv-embedded" / "bin" / "ministack",
        repository / ".venv-sam" / "bin" / "sam",
    ]
    for program in paths:
        if not program.exists():
            pytest.skip(f"{program} is missing: run `make venvs`")
    return paths


@pytest.fixture(scope="session")
def running_aws(
    programs: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedAws]:
    """Yield the emulator of the whole run, with the data of earlier tests."""
    from local.embedded_aws.emulator import EmbeddedAws  # noqa: PLC0415 - 0.1 s for few runs

    embedded = EmbeddedAws(programs[0], tmp_path_factory.mktemp("aws"))
    embedded.start()
    yield embedded
    embedded.stop()


@pytest.fixture(scope="module")
def aws(running_aws: EmbeddedAws) -> EmbeddedAws:
    """Return the emulator, emptied for the tests of a file."""
    url = f"{running_aws.endpoint_url}/_ministack/reset"
    urllib.request.urlopen(urllib.request.Request(url, method="POST"), timeout=60).close()
    return running_aws


@pytest.fixture(scope="session")
def shared_folder(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, Callable[[Path], None]], Path]:
    """
    Return a function that makes a folder once for all workers of a run.

    It takes the folder's name and a function that fills it. If filling fails, each worker tries and
    reports the failure.
    """
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent

    def folder_of(name: str, fill: Callable[[Path], None]) -> Path:
        folder = root / name
        done = root / f"{name}.done"
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                done.touch()
        return folder

    return folder_of


@pytest.fixture(scope="session")
def built(repository: Path, request: pytest.FixtureRequest) -> Path:
    """Return sam build's folder, newer than its source."""
    return build_folder(repository, required=request.config.getoption("--built"))


@pytest.fixture(scope="session")
def runtime_libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the libraries of the Lambda runtime and nothing else."""
    return link_runtime_libraries(tmp_path_factory.mktemp("runtime"))


def browser_problem(program: str | None) -> str:
    """Return why no test can drive the browser *program*; empty if tests can."""
    if program is None:
        return "no Chromium is installed; on Debian: apt-get install chromium"
    from playwright._impl._driver import compute_driver_executable  # noqa: PLC0415 - not installed everywhere

    driver, _ = compute_driver_executable()
    ended = subprocess.run([driver, "--version"], capture_output=True, text=True, check=False)
    if ended.returncode == 0:
        return ""
    why = ended.stderr.strip()
    return f"Playwright's driver does not start: {why}; on Debian: apt-get install libatomic1"


@pytest.fixture(scope="module")
def chromium():
    """Yield the machine's browser without a window, until the module ends (event loop)."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if problem := browser_problem(program):
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing(problem)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - 0.3 s of each run

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
        )
        yield browser
        browser.close()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a golden file, or rewrite the file under --update-golden."""

    def compare(path: Path, actual: str) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8")
        assert path.exists(), f"{path} is missing: make it with pytest --update-golden"
        assert path.read_text(encoding="utf-8") == actual

    return compare


@pytest.fixture
def marked(request: pytest.FixtureRequest) -> Callable[[Path, str, str], None]:
    """Compare the text between a page's markers, or write it under --update-golden."""

    def compare(path: Path, name: str, expected: str) -> None:
        page = path.read_text(encoding="utf-8")
        section = re.search(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", page, re.DOTALL)
        assert section, f"{path.name} has no markers {name}"
        whole = page[: section.end(1)] + expected + page[section.start(2) :]
        if request.config.getoption("--update-golden"):
            path.write_text(whole, encoding="utf-8")
        else:
            assert whole == page

    return compare
