"""One rehearsal: deploy, replay an hour, go live, and with an end: compare."""

from __future__ import annotations

import textwrap
import time
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from local.alarms.template import Template, load_template
from local.embedded_aws.clients import environment
from local.embedded_aws.deployment import SamCli
from local.embedded_aws.processes import EmbeddedAwsError
from local.embedded_aws.server import EmbeddedAws
from local.rehearsal.alarm_board import AlarmBoard, render_table
from local.rehearsal.comparison import (
    against_metrics,
    against_owners,
    against_truth,
    core_owners,
    expected_live,
    expected_past,
    read_metrics,
)
from local.rehearsal.fleet import FLEET, REPOSITORY, LiveFleet
from local.rehearsal.ledger import SettledPast, settle_lines
from local.rehearsal.page import differences_from_aws, open_page
from local.rehearsal.past import MINUTES, PERIOD_S, Past
from local.rehearsal.stack import (
    CLOSES_AFTER_S,
    STACK_NAME,
    DeployedStack,
    closable_minute,
    overrides,
)
from local.rehearsal.workspace import step
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.rehearsal.alarm_board import ClusterRow
    from local.rehearsal.fleet import FleetInstance
    from local.rehearsal.workspace import Workspace

CLUSTERS: Final = tuple(dict.fromkeys(member.cluster for member in FLEET))
TEMPLATE: Final = REPOSITORY / "template.yaml"
MINISTACK: Final = REPOSITORY / ".venv-embedded" / "bin" / "ministack"
SAM: Final = REPOSITORY / ".venv-sam" / "bin" / "sam"
HISTORY_PATIENCE_S: Final = 90.0
CLOSE_PATIENCE_S: Final = 100.0  # a minute closes 45 s after its end, or at 120 when one is missing
REFRESH_S: Final = 2.0
LATEST_START_S: Final = 48  # into a minute: every emitter shall have a report in its first minute
EMITTER_PATIENCE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class RehearsalOutcome:
    """
    How a rehearsal with an end ended.

    Attributes:
        problems: What is wrong, as sentences; empty when all is right.

        history_rollups: Rollups of the replayed hour that were compared.

        live_rollups: Rollups of live minutes that were compared.

        rows: What was seen last of each cluster.

        amounts: What the replayed hour costs, as a sentence; shown when all is right.
    """

    problems: list[str]
    history_rollups: int
    live_rollups: int
    rows: list[ClusterRow]
    amounts: str


class Rehearsal:
    """One rehearsal on one workspace."""

    def __init__(self, workspace: Workspace, page_port: int) -> None:
        """The page is served at *page_port*; 0 takes a free one."""
        self._workspace = workspace
        self._page_port = page_port
        self.template: Mapping[str, Any] = load_template(TEMPLATE)

    def run(self, seconds: float | None) -> RehearsalOutcome:
        """
        Go live for *seconds*, then compare; without *seconds*, until a signal.

        Raises:
            StoppedError: If a signal came.
            EmbeddedAwsError: If something could not be started or ended early.
        """
        self._say_what_this_is()
        with ExitStack() as exits:
            folder = self._workspace.folder / "aws"
            folder.mkdir()
            aws = EmbeddedAws(MINISTACK, folder)
            exits.callback(aws.stop)
            exits.callback(self._workspace.stop_all)  # first: emitters wait for its answers
            with step("Starting the embedded AWS on 127.0.0.1"):
                aws.start(self._workspace.check_signals)
            past = Past(self._workspace.folder, int(time.time()) // MINUTE_S * MINUTE_S)
            stack, lines = self._deploy(aws, past)
            self._close_history(aws, stack, past, lines)
            board = AlarmBoard(Template(self.template, {}, stack.resources), stack.history)
            print(f"Not evaluated: {len(board.left_out)} alarms on metrics of AWS services.")
            ledger = self._settle(past, lines)
            exits.enter_context(open_page(stack.place, board, self.template, self._page_port))
            fleet = LiveFleet(self._workspace, aws.environment(), stack.records_group)
            aws.refuse_strangers()  # again, now that its functions have run
            self._go_live(fleet)
            self._show(stack, fleet, board, aws, seconds)
            stopped_s = time.time()
            with step(f"Shutting down {len(FLEET)} emitters cleanly"):
                wrong = fleet.stop_emitters(EMITTER_PATIENCE_S)
            problems, history, live = self._compare(stack, fleet, past, stopped_s)
            return RehearsalOutcome(
                [*wrong, *problems, *ledger.problems()], history, live,
                board.cluster_rows(CLUSTERS, stack.rollups), ledger.sentence(),
            )  # fmt: skip

    def _deploy(
        self, aws: EmbeddedAws, past: Past
    ) -> tuple[DeployedStack, dict[FleetInstance, list[str]]]:
        """Deploy; and make the lines of *past* meanwhile, as the SAM CLI mostly waits."""
        sam = SamCli(SAM, self._workspace.folder, self._workspace.check_signals)
        with past.lines() as lines:
            with step("Building the functions: sam build"):
                built = sam.build(TEMPLATE, environment())
            parameters = overrides(self.template)
            shown = " ".join(f"{name}={value}" for name, value in parameters.items())
            with step(f"Deploying template.yaml: sam deploy, {shown}"):
                deployment = sam.deploy(built, STACK_NAME, parameters, aws)
            title = f"Simulating and replaying {MINUTES} minutes, one report per {PERIOD_S} s"
            with step(f"{title}, started with the build"):
                return DeployedStack(aws, deployment, past.start_s * 1000), lines()

    def _close_history(
        self,
        aws: EmbeddedAws,
        stack: DeployedStack,
        past: Past,
        lines: Mapping[FleetInstance, list[str]],
    ) -> None:
        with step("Delivering their lines with the emitter's code"):
            past.deliver(
                lines,
                aws.environment(),
                stack.records_group,
                lambda count: stack.wait_until_stored(count, self._workspace),
            )
        # The newest of them may not close yet; it is compared at the end, with the others.
        newest_s = closable_minute(time.time()) * MINUTE_S
        due = {key: rollup for key, rollup in expected_past(past).items() if key[1] <= newest_s}
        with step(f"Closing their minutes: {len(due)} rollups"):
            patience_s = HISTORY_PATIENCE_S
            stack.close_until(due, self._workspace, patience_s, again_s=patience_s / 3)
            missing = due.keys() - stack.rollups.minutes.keys()
            if missing:
                msg = f"{len(missing)} of {len(due)} rollups were missing after {patience_s:.0f} s"
                raise EmbeddedAwsError(msg)

    def _settle(self, past: Past, lines: Mapping[FleetInstance, list[str]]) -> SettledPast:
        """The replayed hour's ledger, and the digest of it as the topic would get it."""
        with step("Settling the replayed hour"):
            ledger = settle_lines(chain.from_iterable(lines.values()), past.end_s // MINUTE_S)
            _, text = ledger.digest()
        print(f"\nThe digest of the replayed hour:\n\n{textwrap.indent(text, '    ')}", flush=True)
        return ledger

    def _go_live(self, fleet: LiveFleet) -> None:
        into_s = time.time() % MINUTE_S
        if into_s > LATEST_START_S:
            with step("Waiting for the next minute"):
                self._workspace.wait(MINUTE_S - into_s + 0.5)
        with step(f"Starting {len(FLEET)} emitters with simulated monitors"):
            for member in FLEET:
                fleet.start_emitter(member)
                self._workspace.wait(0.2)  # their imports fill a small machine
            fleet.check_emitters()

    def _show(
        self,
        stack: DeployedStack,
        fleet: LiveFleet,
        board: AlarmBoard,
        aws: EmbeddedAws,
        seconds: float | None,
    ) -> None:
        """Print the table whenever there is a new rollup or another alarm."""
        started_s = time.time()
        until_s = started_s + seconds if seconds else float("inf")
        of = f" of {seconds:.0f} s" if seconds else " s, until Ctrl-C"
        asked_minute, shown = closable_minute(started_s), ""
        while (now_s := time.time()) < until_s:
            if not aws.alive():
                msg = "the embedded AWS stopped unexpectedly"
                raise EmbeddedAwsError(msg)
            fleet.check_emitters()
            stack.read_new_rollups()
            if closable_minute(now_s) > asked_minute:
                # The embedded schedule counts its minutes from the deployment on.
                asked_minute = closable_minute(now_s)
                stack.close_minutes()
            rows = board.cluster_rows(CLUSTERS, stack.rollups)
            key = "".join(f"{row.minute_s} {row.alarm}" for row in rows)
            if key != shown:
                shown = key
                print(
                    f"\nLive for {now_s - started_s:.0f}{of}: {len(FLEET)} emitters, "
                    f"{len(stack.rollups.minutes)} rollups so far.\n\n{render_table(rows, now_s)}",
                    flush=True,
                )
            self._workspace.wait(min(REFRESH_S, until_s - now_s))
        print()

    def _compare(
        self, stack: DeployedStack, fleet: LiveFleet, past: Past, stopped_s: float
    ) -> tuple[list[str], int, int]:
        """What is wrong, and how many rollups of the history and live were compared."""
        history = expected_past(past)
        live = expected_live(fleet, stopped_s)
        expected = {**history, **live}
        newest = max(minute_s // MINUTE_S for _, minute_s in expected)
        with step(f"Waiting for the last rollups: a minute closes {CLOSES_AFTER_S} s after it"):
            while closable_minute(time.time()) < newest:
                self._workspace.wait(1.0)
                stack.read_new_rollups()
            stack.close_until(expected, self._workspace, CLOSE_PATIENCE_S)
        rollups = stack.rollups.minutes
        problems = against_truth(expected, rollups)
        compared = {key: rollups[key] for key in expected.keys() & rollups.keys()}
        problems += against_owners(core_owners(), compared)
        end_s = int(time.time()) + MINUTE_S
        metrics = read_metrics(stack.history, past.start_s, end_s)
        problems += against_metrics(rollups, metrics)
        found = [*map(str, problems), *stack.refused_lines()]
        if live:  # a whole minute of the others has passed
            found += [f"{member.name} wrote no report" for member in fleet.silent_members()]
        return found, len(history), len(live)

    def _say_what_this_is(self) -> None:
        print(
            f"The whole of neuron-emf on this machine: {len(FLEET)} simulated instances in "
            f"{len(CLUSTERS)} clusters, the real emitter on each,\n"
            "the real template.yaml deployed by the real SAM CLI to an AWS emulator on 127.0.0.1. "
            "Ctrl-C stops it and leaves nothing behind.\n"
            f"It differs from AWS in {len(differences_from_aws(self.template))} ways, listed at "
            "the end and on its page.\n",
            flush=True,
        )
