"""One target under atheris, in a process of its own: libFuzzer ends the process it is in."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from proof.fuzz.corpus import keep, kept
from proof.fuzz.target import MAX_BYTES
from proof.fuzz.targets import target

INNER: Final = "--inner"
ROOT: Final = Path(__file__).resolve().parent.parent.parent
READERS: Final = ("emitter", "neuron_emf", "neuron_wire", "aggregator")
MEMORY: Final = Path("/dev/shm")  # where there is one: spools are written thousands of times
RSS_MIB: Final = 1024
ONE_INPUT_S: Final = 30
_STAT: Final = re.compile(r"^stat::(\w+):\s+(\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class FuzzRun:
    """
    What came of fuzzing one target.

    Attributes:
        name: The target's.

        executions: Inputs that were read.

        seconds: How long it took, the start of the process included.

        peak_mib: Most memory of the process, that of atheris included.

        found: Files with inputs that broke the promise.

        failure: What the process wrote, when it ended with an error.
    """

    name: str
    executions: int
    seconds: float
    peak_mib: int
    found: tuple[Path, ...]
    failure: str


def fuzzed(name: str, seconds: int, seed: int, reports: list[Path]) -> FuzzRun:
    """
    Fuzz for *seconds*, beginning with the target's own inputs, and with *reports* for reports.
    """
    begun_s = time.monotonic()
    memory = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="neuron-emf-fuzz-", dir=memory) as scratch:
        corpus, artifacts = Path(scratch) / "corpus", Path(scratch) / "artifacts"
        corpus.mkdir()
        artifacts.mkdir()
        files = [*kept(name), *(reports if name == "reports" else ())]
        for place, path in enumerate(files):
            (corpus / f"kept-{place}").write_bytes(path.read_bytes())
        longest = max([MAX_BYTES, *(path.stat().st_size for path in files)])
        flags = [
            f"-max_total_time={seconds}", f"-max_len={longest}", f"-timeout={ONE_INPUT_S}",
            f"-rss_limit_mb={RSS_MIB}", f"-seed={seed}", "-print_final_stats=1",
            f"-artifact_prefix={artifacts}/",
        ]  # fmt: skip
        command = [sys.executable, "-m", "proof.fuzz", INNER, name, *flags, str(corpus)]
        ended = subprocess.run(
            command,
            cwd=ROOT,
            # libFuzzer ends it at once, and what it made would stay
            env={**os.environ, "TMPDIR": scratch},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        written = ended.stderr.decode(errors="replace")
        inputs = tuple(keep(name, path.read_bytes()) for path in sorted(artifacts.iterdir()))
    stats = {stat: int(value) for stat, value in _STAT.findall(written)}
    return FuzzRun(
        name=name,
        executions=stats.get("number_of_executed_units", 0),
        seconds=time.monotonic() - begun_s,
        peak_mib=stats.get("peak_rss_mb", 0),
        found=inputs,
        failure=written if ended.returncode else "",
    )


def fuzz(name: str, flags: list[str]) -> NoReturn:
    """Let libFuzzer work in this process, which it ends."""
    import atheris  # noqa: PLC0415  # an optional group: only this needs it

    with atheris.instrument_imports(include=list(READERS)):
        reader = target(name)
    folder = Path(flags[-1])
    for place, seed in enumerate(reader.seeds()):
        (folder / f"seed-{place}").write_bytes(seed)

    def mutate(content: bytes, max_bytes: int, chance_seed: int) -> bytes:
        chance = random.Random(chance_seed)
        if chance.random() < 0.5:
            changed = reader.changed(content, chance)
            if len(changed) <= max_bytes:
                return changed
        return bytes(atheris.Mutate(content, max_bytes))

    def once(content: bytes) -> None:
        reader.once(content)

    atheris.Setup([sys.argv[0], *flags], once, custom_mutator=mutate)
    atheris.Fuzz()
    sys.exit(0)
