"""
The acceptance: `python -m proof.accept --region R --release FOLDER [--record]`.

It deploys stacks in the account of the credentials, tests and removes them; about 50 minutes and
under USD 2. `--embedded` does the same on the embedded AWS, and names the steps that it cannot
judge. `--clean` removes what killed runs left, by their journals. Exit codes: 0 everything as
expected and nothing left, 1 a difference or something left, 2 usage error, 3 AWS refused or a
resource already exists.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from local import REPOSITORY
from local.embedded_aws.clients import EMBEDDED_REGION, SDK_ERRORS
from local.embedded_aws.emulator import EmbeddedAws
from neuron_emf.check_results import NOT_TRIED, CheckResult, counted_states, exit_code, line
from neuron_emf.deploy.package import carried
from neuron_emitter.errors import EmitterError
from proof.accept.accept_steps import ACCEPT_STEPS
from proof.accept.call_recording import AcceptError, AccountPlace, CallRecorder
from proof.accept.context import AcceptContext
from proof.accept.resources import JOURNAL_NAME, Journal, remove

if TYPE_CHECKING:
    from collections.abc import Sequence

STATE_FOLDER = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
ACCEPT_FOLDER = STATE_FOLDER / "neuron-emf-accept"
"""
The folder of journals. They outlive the checkout: only a journal shows what a killed run left.
"""
RELEASE_FOLDER = REPOSITORY / "build" / "release"
RECORDINGS = REPOSITORY / "tests" / "recorded" / "answers"
ACCEPT_REFUSALS = (AcceptError, EmitterError, *SDK_ERRORS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the acceptance, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m proof.accept")
    parser.add_argument("--region", help="Region of the account; required")
    parser.add_argument(
        "--release",
        type=Path,
        default=RELEASE_FOLDER,
        help="template and functions",
    )
    parser.add_argument(
        "--folder", type=Path, default=ACCEPT_FOLDER, help="folder for journals and answers"
    )
    parser.add_argument("--record", action="store_true", help="keep the answers in tests/recorded")
    parser.add_argument(
        "--embedded", action="store_true", help="use the embedded AWS instead of an account"
    )
    parser.add_argument("--mode", default="direct", choices=["direct", "kinesis"], help="Mode")
    parser.add_argument("--kms", action="store_true", help="encrypt with a KMS key of the run")
    parser.add_argument("--steps", help="steps to run, separated by commas; default all")
    parser.add_argument("--clean", action="store_true", help="remove what killed runs left")
    chosen = parser.parse_args(arguments)
    with ExitStack() as stack:
        if chosen.embedded:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            aws = EmbeddedAws(REPOSITORY / ".venv-embedded" / "bin" / "ministack", folder)
            stack.callback(aws.stop)
            aws.start()
            os.environ.update(aws.environment())
            chosen.region = EMBEDDED_REGION
            chosen.folder = folder / "accept"
        if not chosen.region:
            parser.error("no region was named: make accept REGION=eu-central-1")
        try:
            return clean(chosen) if chosen.clean else accept(chosen)
        except ACCEPT_REFUSALS as error:
            print(f"accept: {error}", file=sys.stderr)
            return 3


def accept(chosen: argparse.Namespace) -> int:
    """Run once, and remove everything that the run made."""
    run = f"neuron-accept-{secrets.token_hex(5)}"
    folder = chosen.folder / run
    package = carried(chosen.release)
    recorder = CallRecorder(RECORDINGS if chosen.record else folder / "answers")
    recorder.scrubber.hide(run, "neuron-accept-run")
    place = AccountPlace(chosen.region, recorder)
    if place.is_embedded and chosen.record:
        msg = "Answers of the embedded AWS are not recordings of AWS. Omit RECORD."
        raise AcceptError(msg)
    journal = Journal.begin(folder, run, place.where)
    context = AcceptContext(place, journal, package, folder, chosen.mode, chosen.kms)
    print(f"run {run}, journal {folder / JOURNAL_NAME}", flush=True)
    chosen_steps = set(filter(None, (chosen.steps or "").split(",")))
    results: list[CheckResult] = []
    try:
        for step in [
            step for step in ACCEPT_STEPS if not chosen_steps or step.name in chosen_steps
        ]:
            results.append(step.result(context, results))
            notes = [] if results[-1].state == NOT_TRIED else context.notes
            print(line(results[-1]), *notes, sep="\n            ", flush=True)
    finally:
        recorder.step("removal")
        left = remove(place, journal, lambda text: print(text, flush=True))
        place.close()
        print(*left, "Metrics of this run stay for 15 months; CloudWatch deletes none.", sep="\n")
    print(f"{counted_states(results)}.")
    return 1 if left else exit_code(results)


def clean(chosen: argparse.Namespace) -> int:
    """Remove what killed runs of this account and Region left."""
    place = AccountPlace(chosen.region, CallRecorder(chosen.folder / "clean"))
    left = []
    paths = sorted(chosen.folder.glob(f"*/{JOURNAL_NAME}"))
    if not paths:
        place.close()
        print(
            f"No journal of an acceptance was found in {chosen.folder}. If another user or machine"
            f" ran it, clean up there, or delete the neuron-accept-* stacks."
        )
        return 1
    for path in paths:
        journal = Journal.read(path)
        if not journal.left():
            continue
        if journal.where != place.where:
            print(f"{path}: of another account or region, {journal.where}; left as it is")
            continue
        left += remove(place, journal, lambda text: print(text, flush=True))
    place.close()
    end = "Something is left; see above and run again." if left else "Nothing is left."
    print(*left, end, sep="\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
