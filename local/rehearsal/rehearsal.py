"""One rehearsal: deploy, replay an hour, go live and, with an end, compare."""

from __future__ import annotations

import signal
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import chain, starmap
from typing import TYPE_CHECKING, Any, Final

from local import REPOSITORY
from local.alarms.template import Template, load_template
from local.embedded_aws.child_processes import EmbeddedAwsError
from local.embedded_aws.clients import environment
from local.embedded_aws.emulator import EmbeddedAws
from local.embedded_aws.sam_deployment import SamCli
from local.rehearsal.alarm_board import AlarmBoard
from local.rehearsal.comparison import (
    against_metrics,
    against_owners,
    against_truth,
    core_owners,
    expected_live,
    read_metrics,
)
from local.rehearsal.focus_export import (
    billed_usd,
    charges_of,
    export_objects,
    past_days,
)
from local.rehearsal.live_fleet import REHEARSED_FLEET, LiveFleet
from local.rehearsal.page import PORT, differences_from_aws, open_page
from local.rehearsal.past import Past
from local.rehearsal.past_ledger import (
    SettledPast,
    agreement,
    days_before,
    differences,
    digest_of,
    digest_week,
    problems_of_week,
    settle_lines,
)
from local.rehearsal.rehearsal_stack import (
    STACK_NAME,
    DeployedStack,
    closable_minute,
    overrides,
)
from local.rehearsal.workspace import StoppedError, step
from neuron_emf.account import rehearsed_account
from neuron_emf.report.chargeback import chargeback
from neuron_emf.report.month_ledger import S3
from neuron_emf.report.settings import IdleReportSettings
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aggregator.digest.function import Week
    from local.rehearsal.past import MemberLines
    from local.rehearsal.workspace import Workspace
    from neuron_emf.page.server import PageServer

DAYS: Final = 3
"""Days before the replayed hour, in the ledger."""

TEMPLATE_FILE: Final = REPOSITORY / "template.yaml"
MINISTACK_PROGRAM: Final = REPOSITORY / ".venv-embedded" / "bin" / "ministack"
SAM: Final = REPOSITORY / ".venv-sam" / "bin" / "sam"
HISTORY_PATIENCE_S: Final = 90.0
CLOSE_PATIENCE_S: Final = 100.0  # a minute closes 45 s after its end, or at 120 if one is missing
REFRESH_S: Final = 2.0
LATEST_START_S: Final = 48  # into a minute: every emitter must have a report in its first minute
EMITTER_PATIENCE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class RehearsalOutcome:
    """
    The result of a rehearsal with an end.

    Attributes:
        problems: Problems, as sentences; empty if everything is right.

        history_rollups: Rollups of the replayed hour that were compared.

        live_rollups: Rollups of live minutes that were compared.

        amounts: Costs of the replayed hour and of the past days, as sentences; shown if everything
            is right.
    """

    problems: list[str]
    history_rollups: int
    live_rollups: int
    amounts: str


class Rehearsal:
    """One rehearsal on one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.template: Mapping[str, Any] = load_template(TEMPLATE_FILE)

    def run(self, seconds: float | None) -> RehearsalOutcome:
        """
        Go live for *seconds*, then compare; without *seconds*, until a signal.

        Raises:
            StoppedError: If a signal came.
            EmbeddedAwsError: If something could not be started or ended early.
        """
        with ExitStack() as exits:
            folder = self._workspace.folder / "aws"
            folder.mkdir()
            aws = EmbeddedAws(MINISTACK_PROGRAM, folder)
            exits.callback(aws.stop)
            exits.callback(self._workspace.stop_all)  # first: emitters wait for its answers
            with step("Starting the AWS emulator on 127.0.0.1"):
                aws.start(self._workspace.check_signals)
            past = Past(self._workspace.folder, int(time.time()) // MINUTE_S * MINUTE_S)
            stack, lines = self._deploy(aws, past)
            with step(
                f"Replaying an hour of {len(REHEARSED_FLEET)} instances, settling {DAYS} days "
                "before"
            ):
                self._close_history(stack, past, lines)
                ledger, objects, week = self._settle(stack, past, lines)
            board = AlarmBoard(Template(self.template, {}, stack.resources), stack.history)
            server = open_page(stack.place, board, self.template, PORT)
            exits.enter_context(server)
            page_week = server.view.reads["/amounts.json"]({"range": "7d"})
            wrong_week = problems_of_week(objects, week, page_week)
            fleet = LiveFleet(self._workspace, aws.environment(), stack.place.log_group)
            aws.refuse_strangers()  # again, after its functions have run
            with step(f"Starting {len(REHEARSED_FLEET)} emitters with simulated neuron-monitors"):
                bridged = self._bridge(stack, past, lines)
                for member in REHEARSED_FLEET:
                    fleet.start_emitter(member)
                    self._workspace.wait(0.2)  # their imports fill a small machine
                fleet.check_emitters()
            self._say_where_to_look(server, seconds)
            is_cut = self._live(stack, fleet, board, server, seconds=seconds)
            stopped_s = time.time()
            with step(f"Stopping {len(REHEARSED_FLEET)} emitters, closing the last minute"):
                wrong = fleet.stop_emitters(EMITTER_PATIENCE_S)
                problems, history, live = self._compare(
                    stack, fleet, past, bridged, stopped_s, is_cut=is_cut
                )
            amounts = {
                "Idle cores of that hour": ledger.idle_usd(),
                f"Instances of a made-up bill of {DAYS} days": self._billed_usd(stack, ledger),
            }
            wrong_amounts = chain.from_iterable(starmap(differences, amounts.items()))
            problems = [*wrong, *problems, *wrong_amounts, *wrong_week]
            sentences = "\n".join(starmap(agreement, amounts.items()))
            return RehearsalOutcome(problems, history, live, sentences)

    def _deploy(self, aws: EmbeddedAws, past: Past) -> tuple[DeployedStack, MemberLines]:
        """Deploy; make the lines of *past* meanwhile, because the SAM CLI mostly waits."""
        sam = SamCli(SAM, self._workspace.folder, self._workspace.check_signals)
        with past.lines() as lines:
            with step("Building and deploying template.yaml with the SAM CLI"):
                built = sam.build(TEMPLATE_FILE, environment())
                deployment = sam.deploy(built, STACK_NAME, overrides(self.template), aws)
            return DeployedStack(aws, deployment, past.start_s * 1000), lines()

    def _close_history(self, stack: DeployedStack, past: Past, lines: MemberLines) -> None:
        past.deliver(lines, stack, self._workspace)
        # The newest of them may not close yet; it is compared at the end, with the others.
        newest_s = closable_minute(time.time()) * MINUTE_S
        due = {key: rollup for key, rollup in past.expected().items() if key[1] <= newest_s}
        stack.close_until(due, self._workspace, HISTORY_PATIENCE_S, again_s=HISTORY_PATIENCE_S / 3)
        missing = due.keys() - stack.rollups.keys()
        if missing:
            waited = f"after {HISTORY_PATIENCE_S:.0f} s"
            msg = f"{len(missing)} of {len(due)} rollups were missing {waited}"
            raise EmbeddedAwsError(msg)

    def _settle(
        self, stack: DeployedStack, past: Past, lines: MemberLines
    ) -> tuple[SettledPast, dict[str, bytes], Week]:
        """
        Put the days before the replayed hour into the ledger, with a bill, and write the digest.

        The replayed hour is not settled before two hours have passed. Return that hour, the objects
        of the ledger, and the week of the digest.
        """
        ledger = settle_lines(chain.from_iterable(lines.values()), past.end_s // MINUTE_S)
        objects = days_before(ledger, DAYS)
        charges = charges_of(past_days(ledger.hours.start, DAYS))
        stack.put_objects({**objects, **export_objects(charges)})
        week = digest_week(objects, ledger.hours.start)
        self._workspace.write("digest.txt", digest_of(week))
        from_aws = "\n".join(differences_from_aws(self.template))
        self._workspace.write("differences-from-aws.txt", from_aws)
        return ledger, objects, week

    def _billed_usd(self, stack: DeployedStack, past: SettledPast) -> dict[str, str]:
        """Split the invented bill of the days before *past*. Return its amounts."""
        settings = IdleReportSettings(rehearsal=True, bill=(S3,))
        split = chargeback(settings, rehearsed_account(asdict(stack.place)))
        charges = charges_of(past_days(past.hours.start, DAYS))
        return billed_usd(charges, split)

    def _bridge(self, stack: DeployedStack, past: Past, lines: MemberLines) -> Past:
        """
        Deliver the minutes since the replayed hour, and return the past with them.

        An owner is fully idle only if its executions were read in every minute.
        """
        while True:
            into_s = time.time() % MINUTE_S
            if into_s > LATEST_START_S:
                self._workspace.wait(MINUTE_S - into_s + 0.5)
            bridged = past.extended(time.time())
            if bridged == past:
                return past
            bridged.deliver(lines, stack, self._workspace, since_s=past.end_s)
            past = bridged

    def _say_where_to_look(self, server: PageServer, seconds: float | None) -> None:
        commands = (
            "Owners of idle cores    .venv/bin/neuron-emf top --rehearsal\n"
            f"What {DAYS} days cost        .venv/bin/neuron-emf report --rehearsal [--bill]\n"
        )
        end = f"for {seconds:.0f} s" if seconds else "until Ctrl-C"
        print(
            f"\n{commands if server.port == PORT else ''}"
            f"Messages, digest, logs  {self._workspace.folder}\n"
            f"The page, {end}: {server.url}\n",
            flush=True,
        )

    def _live(
        self,
        stack: DeployedStack,
        fleet: LiveFleet,
        board: AlarmBoard,
        server: PageServer,
        *,
        seconds: float | None,
    ) -> bool:
        """Close minutes, and have alarms explained. Return True if Ctrl-C ended it."""
        until_s = time.time() + seconds if seconds else float("inf")
        asked_minute = closable_minute(time.time())
        explained = set[tuple[object, ...]]()
        try:
            while (now_s := time.time()) < until_s:
                if not stack.aws.alive():
                    msg = "the AWS emulator stopped unexpectedly"
                    raise EmbeddedAwsError(msg)
                fleet.check_emitters()
                stack.read_new_rollups()
                if closable_minute(now_s) > asked_minute:
                    # The embedded schedule counts its minutes from the deployment on.
                    asked_minute = closable_minute(now_s)
                    stack.close_minutes()
                for state in board.firing_on_clusters():
                    if (key := (state.alarm.logical_id, state.contributor)) not in explained:
                        explained.add(key)
                        stack.explain(board.event_of(state))
                messages = server.view.messages.read_newest_first()
                texts = "\n\n".join(message["text"] for message in messages)
                self._workspace.write("messages.txt", texts)
                self._workspace.wait(min(REFRESH_S, until_s - now_s))
        except StoppedError as stopped:
            if stopped.signal_number != signal.SIGINT:
                raise
            self._workspace.forget_signal()
            print(f"\nEnding, and with it the page {server.url}")
            return True
        return False

    def _compare(
        self,
        stack: DeployedStack,
        fleet: LiveFleet,
        past: Past,
        bridged: Past,
        stopped_s: float,
        *,
        is_cut: bool,
    ) -> tuple[list[str], int, int]:
        """Return the problems, and the number of compared rollups of the hour and since."""
        history = past.expected()
        expected = {**bridged.expected(), **expected_live(fleet, stopped_s)}
        if is_cut:  # do not wait for minutes that are not closed yet
            stack.read_new_rollups()
            expected = {key: expected[key] for key in expected.keys() & stack.rollups}
        else:
            newest = max(minute_s // MINUTE_S for _, minute_s in expected)
            while closable_minute(time.time()) < newest:
                self._workspace.wait(1.0)
                stack.read_new_rollups()
            stack.close_until(expected, self._workspace, CLOSE_PATIENCE_S)
        rollups = stack.rollups
        problems = against_truth(expected, rollups)
        compared = {key: rollups[key] for key in expected.keys() & rollups.keys()}
        problems += against_owners(core_owners(), compared)
        end_s = int(time.time()) + MINUTE_S
        metrics = read_metrics(stack.history, past.start_s, end_s)
        problems += against_metrics(rollups, metrics)
        found = [*map(str, problems), *stack.refused_lines()]
        live = expected.keys() - history
        if live:  # a whole minute of the others has passed
            found += [f"{member.name} wrote no report" for member in fleet.silent_members()]
        return found, len(history), len(live)
