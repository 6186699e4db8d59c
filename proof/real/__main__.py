"""
Run the product against other people's software: `python -m proof.real [PART...]`.

A part is a module of this folder with:

* `TITLE`: the name of the part on the page docs/reference/support.md
* `CLAIM`: one sentence, what ran against what
* `missing() -> str | None`: why the part cannot run here and what to install, or None
* `versions() -> dict[str, str]`: the programs of the part and their versions
* `run(folder: Path) -> list[str]`: sentences with figures; AssertionError with the difference

`proof/real/install.sh` installs what the parts need into `.real/`. This module installs nothing.
`proof/real/over.sh` shows Debian packages under /usr and /etc to this process only.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from proof.real import run_record

if TYPE_CHECKING:
    from types import ModuleType

PARTS_FOLDER = Path(__file__).resolve().parent
OVER_PROGRAM = PARTS_FOLDER / "over.sh"
IS_OVER = "NEURON_EMF_PROOF_OVER"  # set by over.sh


def main() -> int:
    """Run the chosen parts one after another, print each result, and return the exit code."""
    parts = read_parts()
    description = __doc__.strip().splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m proof.real", description=description)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(parts)}; default all")
    parser.add_argument(
        "--record", action="store_true", help="keep versions and results for the page support.md"
    )
    options = parser.parse_args()
    unknown = sorted(set(options.parts) - parts.keys())
    if unknown:
        parser.error(f"unknown parts: {', '.join(unknown)}. Parts are {', '.join(parts)}.")
    if os.geteuid() == 0 and IS_OVER not in os.environ:
        command = [OVER_PROGRAM, sys.executable, "-m", "proof.real", *sys.argv[1:]]
        os.execv(OVER_PROGRAM, list(map(str, command)))

    failed = []
    skipped = []
    for name in options.parts or parts:
        part = parts[name]
        reason = part.missing()
        if reason is not None:
            skipped.append(name)
            print(f"--- {name}: skipped: {reason}", flush=True)
            continue
        result = run_part(name, part)
        if not result.has_passed:
            failed.append(name)
        if options.record:
            run_record.keep(name, result)
    ran = len(options.parts or parts) - len(skipped)
    print(f"real: {ran} parts ran, {len(failed)} failed, {len(skipped)} skipped")
    for label, names in (("failed", failed), ("skipped", skipped)):
        if names:
            print(f"real: {label}: {' '.join(names)}")
    return 1 if failed else 0


def read_parts() -> dict[str, ModuleType]:
    """Return the parts by name: the modules of this folder that have a CLAIM."""
    names = sorted(path.stem for path in PARTS_FOLDER.glob("*.py") if path.stem != "__main__")
    modules = {name: importlib.import_module(f"proof.real.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "CLAIM")}


def run_part(name: str, part: ModuleType) -> run_record.Result:
    """Run one part in an empty folder and print its versions, sentences and seconds."""
    versions = part.versions()
    listed = ", ".join(f"{program} {version}" for program, version in versions.items())
    print(f"--- {name}: {part.CLAIM}\n    {listed}", flush=True)
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"neuron-emf-{name}-") as folder:
        try:
            sentences = part.run(Path(folder))
            has_passed = True
        except Exception as error:  # noqa: BLE001 - the next parts run
            traceback.print_exc()
            first_line = (str(error) or type(error).__name__).splitlines()[0]
            sentences = [first_line]
            has_passed = False
    took_s = time.monotonic() - began_s
    for sentence in sentences:
        print(f"    {sentence}")
    print(f"--- {name}: {'passed' if has_passed else 'FAILED'} after {took_s:.0f} s", flush=True)
    return run_record.Result(
        title=part.TITLE,
        claim=part.CLAIM,
        versions=versions,
        sentences=sentences,
        has_passed=has_passed,
        took_s=round(took_s),
    )


if __name__ == "__main__":
    sys.exit(main())
