"""
Fuzz the way from bytes to a minute with atheris, for a bounded time.

    python tests/emitter/reports/fuzz_decoder.py SECONDS [REPORT...]

It begins with the shapes that real reports had, and with each REPORT, a file
that neuron-monitor wrote. Half of the changes are those of libFuzzer, guided by
the branches they reach; the other half break one place of a report, so that what
is broken is still a report. What must be true is in `broken_reports`.
"""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

MAX_BYTES = 1 << 16
INNER = "--inner"
TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent.parent


def main(arguments: list[str]) -> int:
    """
    Fuzz for the seconds given; returns 0 also when there is nothing to fuzz with.
    """
    if importlib.util.find_spec("atheris") is None:  # an optional group: most people never fuzz
        sys.stderr.write(
            "atheris is not installed, so nothing was fuzzed: use make fuzz, which installs it "
            "where it has wheels (Linux)\n"
        )
        return 0
    sys.path[:0] = [str(ROOT), str(ROOT / "lambda"), str(TESTS)]
    if arguments[:1] == [INNER]:
        fuzz([sys.argv[0], *arguments[1:]])
    seconds, *reports = arguments or ["60"]
    with tempfile.TemporaryDirectory(prefix="neuron-emf-fuzz-") as folder:
        longest = seed(Path(folder), [Path(report) for report in reports])
        flags = [
            f"-max_total_time={int(seconds)}",
            f"-max_len={max(MAX_BYTES, longest)}",
            "-timeout=30",
            "-rss_limit_mb=1024",
            "-print_final_stats=1",
            f"-artifact_prefix={tempfile.gettempdir()}/neuron-emf-",
        ]
        # libFuzzer ends the process it is in, and the folder is to be removed.
        command = [sys.executable, __file__, INNER, *flags, folder]
        return subprocess.run(command, check=False).returncode


def seed(corpus: Path, reports: list[Path]) -> int:
    """
    Fill the corpus with reports to begin with; returns the length of the longest.
    """
    import shaped_reports  # noqa: PLC0415 - beside the tests, which are no package

    shapes = [
        shaped_reports.inf1_first(),
        shaped_reports.inf1_busy(),
        shaped_reports.inf2_loaded(),
        shaped_reports.trn1_nobody(),
        shaped_reports.trn1_job([50.0, 0.0], models=1),
        shaped_reports.trn2_logical(),
        shaped_reports.sidecar(40, 60),
    ]
    contents = [shaped_reports.line(shape) for shape in shapes]
    contents += [report.read_bytes() for report in reports]
    for number, content in enumerate(contents):
        (corpus / f"report-{number}").write_bytes(content)
    return max(map(len, contents))


def fuzz(command: list[str]) -> NoReturn:
    """
    Let libFuzzer work in this process, which it ends.
    """
    import atheris  # noqa: PLC0415

    with atheris.instrument_imports(include=["emitter", "neuron_wire"]):
        import broken_reports  # noqa: PLC0415 - instrumented while it is imported

    def once(content: bytes) -> None:
        broken_reports.survives(content)

    def mutate(content: bytes, max_bytes: int, chance_seed: int) -> bytes:
        chance = random.Random(chance_seed)
        if chance.random() < 0.5:
            try:
                document = json.loads(content)
                return broken(broken_reports, document, chance)[:max_bytes]
            except (ValueError, RecursionError, TypeError, IndexError):
                pass  # it is no report any more
        return bytes(atheris.Mutate(content, max_bytes))

    atheris.Setup(command, once, custom_mutator=mutate)
    atheris.Fuzz()
    sys.exit(0)


def broken(tools: Any, document: Any, chance: random.Random) -> bytes:
    """
    *document* with one place broken.
    """
    path = chance.choice(list(tools.places(document)))
    raw = chance.choice(tools.VALID + tools.NO_JSON)
    way = chance.randrange(3)
    if way == 0:
        return bytes(tools.deleted(document, path))
    return bytes((tools.replaced if way == 1 else tools.doubled)(document, path, raw))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
