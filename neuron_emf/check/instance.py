"""
Check the instance: its name and cluster, its price, and what `run` would use on it.

It asks like `run`: the orchestrators for the cluster, the report and the metadata service for the
instance. Price and payment depend on the instance alone, because the stack's parameters are unknown
here. Nothing in the spool's folder is changed, and a running emitter is not disturbed: its lock is
inspected, never awaited.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING, Final

from neuron_accounts.payment import CAPACITY_BLOCK, PaymentTerms, is_committed
from neuron_accounts.prices import PriceBasis, Prices
from neuron_emf.check_results import CheckResult, failed, not_needed, ok, warning
from neuron_emf.command_output import prices_of
from neuron_emitter.errors import SettingsError
from neuron_emitter.fold.inventory import Inventory, KnownInstance
from neuron_emitter.instance.cluster import ClusterSearch, find_cluster
from neuron_emitter.instance.instance_facts import InstanceFacts
from neuron_emitter.instance.machine import INPUTS_OF_THIS_MACHINE, guessed_instance_id
from neuron_emitter.kernel.kmsg import UnreadableLogError, log_opener
from neuron_emitter.owners.assignments import UnknownAssignmentsError
from neuron_emitter.owners.lookup import OFF
from neuron_emitter.owners.places import Places, reach
from neuron_emitter.owners.reservations import schedulers_of
from neuron_emitter.settings.run_settings import LOGS, NONE, spool_directory
from neuron_emitter.spool.directory import holder_of
from neuron_emitter.spool.layout import FILE_NAME, LAYOUT_VERSION
from neuron_emitter.spool.newer_spool import NewerSpool, stored_bytes
from neuron_words.now_words import price_overrides_line
from neuron_words.quantity_words import counted, usd

if TYPE_CHECKING:
    from pathlib import Path

    from neuron_emf.check.settings import CheckSettings
    from neuron_emitter.reports.report import Report

_IN_NO_AMOUNT: Final = "its idle cores are not in any amount, nor in the alarm on cost"
_VERSION_OFFSET: Final = 60  # of 4 bytes in a database's header: sqlite.org/fileformat.html


def check_cluster(settings: CheckSettings, origin: str) -> tuple[CheckResult, str]:
    """
    Return the result, and the name; an empty name if there is none.

    *origin* is the source of the setting.
    """
    try:
        cluster = find_cluster(settings.cluster, ClusterSearch(region=settings.region))
    except SettingsError as error:
        problem, _, tried = str(error).partition(" Tried, in this order:")
        if tried:
            sources = "; ".join(filter(None, map(str.strip, tried.splitlines())))
            problem = f"no cluster name: {sources}"
        return failed(problem, "use --cluster NAME"), ""
    where = origin if settings.cluster.strip() else cluster.where
    return ok(f"{cluster.name}, from {where}"), cluster.name


def check_instance(
    settings: CheckSettings, facts: InstanceFacts, report: Report | None
) -> tuple[CheckResult, str]:
    """Return the result, and the ID that records will have."""
    reported = emitted_instance(InstanceFacts(), report).instance_id
    if reported and facts.instance_id not in (None, reported):
        return warning(
            f"neuron-monitor reports {reported}, the instance metadata {facts.instance_id}",
            "records will use the first: check that neuron-monitor reports on this instance",
        ), reported
    if instance_id := reported or facts.instance_id:
        source = "neuron-monitor" if reported else "the instance metadata or the instance's board"
        typed = f"{instance_id} ({facts.instance_type})" if facts.instance_type else instance_id
        return ok(f"{typed}, from {source}"), instance_id
    if settings.instance_id:
        return ok(f"{settings.instance_id}, from --instance-id"), settings.instance_id
    guessed = guessed_instance_id()
    return warning(
        f"{guessed}, a guess: neither neuron-monitor nor the instance metadata has one",
        "use --instance-id, or allow two hops to the instance metadata",
    ), guessed


def emitted_instance(
    facts: InstanceFacts, report: Report | None, instance_type: str | None = None
) -> InstanceFacts:
    """Return the instance in the emitter's lines; *instance_type* is the setting."""
    inventory = Inventory(KnownInstance())
    inventory.learn_facts(facts.with_fallback(InstanceFacts(instance_type=instance_type)))
    if report is not None:
        inventory.learn_report(report)
    return inventory.instance()


def check_price(instance: InstanceFacts) -> CheckResult:
    """Check the list price: without a price, no amount counts the instance's idle cores."""
    instance_type = instance.instance_type
    region = instance.region
    if not instance_type:
        return failed(
            "the type of this instance is unknown: neither neuron-monitor, the instance metadata "
            f"nor the board has it, so {_IN_NO_AMOUNT}",
            "use --instance-type TYPE, such as trn1.32xlarge",
        )
    if not region:
        return warning(
            f"the Region of this instance is unknown: {_IN_NO_AMOUNT}",
            "set AWS_REGION, or give access to neuron-monitor or the instance metadata",
        )
    basis = PriceBasis()
    price = basis.usd_per_core_hour(Prices(), instance_type, 1, region)
    if price is None:
        line = price_overrides_line([f"{region}/{instance_type}"])
        return warning(
            f"unpriced: {instance_type} has no list price in {region}: {_IN_NO_AMOUNT}",
            f"unless the stack has a price, deploy it with {line or 'PriceOverrides'}",
        )
    return ok(f"{instance_type}: {usd(price)} per hour ({prices_of(basis)})")


def check_payment(paid: str | None, instance: InstanceFacts) -> CheckResult:
    """Report if it is committed or avoidable, and why; *paid* is the setting of `run --paid`."""
    lifecycle = instance.lifecycle
    instance_type = instance.instance_type
    saves_nothing = is_committed(PaymentTerms(paid, lifecycle, instance_type), {})
    if saves_nothing:
        taken = "committed: paid even if stopped, so stopping it saves nothing"
    else:
        taken = "avoidable: stopping it saves at most its cost"
    if paid is not None:
        return ok(f"{taken} (set with --paid)")
    if saves_nothing and lifecycle != CAPACITY_BLOCK:
        reason = f"{instance_type} is sold in capacity blocks"
    elif lifecycle:
        reason = f"the instance metadata reports {lifecycle}"
    else:
        reason = "nothing indicates another payment"
    return ok(f"{taken} ({reason}; --paid or the stack's PaidByType take precedence)")


def check_attribution(settings: CheckSettings) -> CheckResult:
    """Check which owners can be named. It never fails: numbers are right without names."""
    if settings.attribution == OFF:
        return not_needed("--attribution none: owners are not named")
    if settings.input not in INPUTS_OF_THIS_MACHINE:
        return not_needed("the pids in a file may be of another machine")
    places = Places.around(settings.proc_dir)
    access = reach(places)
    if access.why_not:
        return warning(f"owners are not named: {access.why_not}", access.advice)
    if access.limits:
        return warning(f"owners are named, except {' and '.join(access.limits)}", access.advice)
    return ok(f"owners are named from {settings.proc_dir}")


def check_reservations(settings: CheckSettings) -> CheckResult:
    """Read the assignments of schedulers as `run` would. It never fails either."""
    if settings.attribution == OFF:
        return not_needed("--attribution none: cores that are assigned and not used are not named")
    if settings.input not in INPUTS_OF_THIS_MACHINE:
        return not_needed("the reports in a file may be of another machine")
    sentences = []
    advice = []
    for scheduler in schedulers_of(Places.around(settings.proc_dir)):
        for source in scheduler.sources if scheduler.is_here() else ():
            try:
                allocations = source.read_allocations()
            except UnknownAssignmentsError as error:
                sentences.append(f"{source.name} cannot be read: {error}")
                advice.append(error.remedy)
                if error.known is None:
                    continue
                allocations = error.known
            allocations = [owner for owner in allocations if owner.cores or owner.devices]
            cores = sum(len(owner.cores) for owner in allocations)
            devices = sum(len(owner.devices) for owner in allocations)
            owners = f"{counted(len(allocations), 'owner')} of {counted(cores, 'core')}"
            sentences.append(f"{owners} and {counted(devices, 'device')}, from {source.name}")
            break
    if advice:
        return warning("; ".join(sentences), "; ".join(advice))
    return ok("; ".join(sentences)) if sentences else not_needed("no scheduler is on this machine")


def check_kernel_log(settings: CheckSettings) -> CheckResult:
    """Check where faults are read. It never fails, because every other number is right without."""
    open_log = log_opener(settings.kernel_messages, settings.input)
    if open_log is None:
        if settings.kernel_messages == NONE:
            return not_needed("--kernel-messages none: hardware faults are not counted")
        return not_needed("the reports in a file may be of another machine")
    try:
        ring = open_log()
        ring.close()
    except UnreadableLogError as error:
        return warning("hardware faults are not counted: no permission to read it", str(error))
    return ok(f"hardware faults are counted from {ring.path}")


def check_spool(settings: CheckSettings) -> CheckResult:
    """Check that records can be kept on disk, and for how many of them there is room."""
    directory = spool_directory(settings)
    if directory is None:
        return not_needed("records are kept in memory with --output stdout")
    existing = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not existing.is_dir():
        return failed(f"{existing} is not a folder", "choose another with --spool-dir")
    try:
        with tempfile.TemporaryFile(dir=existing, buffering=0) as file:
            file.write(bytes(4096))
            os.fsync(file.fileno())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return failed(
            f"cannot write {existing}: {reason}",
            "give this user write permission, or choose another folder with --spool-dir",
        )
    path = directory / FILE_NAME
    aside = NewerSpool(directory).path
    version = _layout_version(path)
    if version > LAYOUT_VERSION:
        return warning(
            f"{path} has layout {version}, newer than the {LAYOUT_VERSION} of this version",
            "no action: the emitter sets it aside and starts with an empty spool; a newer "
            "neuron-emf picks it up again",
        )
    if aside.exists():
        return warning(
            f"{aside} ({stored_bytes(aside) >> 20} MiB) is the spool of a newer version, set aside",
            "install the newer neuron-emf again within 13 days to deliver its records",
        )
    used_mib = stored_bytes(path) >> 20
    return _room(directory, existing, settings.spool_max_mib - used_mib)


def _room(directory: Path, existing: Path, wanted_mib: int) -> CheckResult:
    free_mib = shutil.disk_usage(existing).free >> 20
    if free_mib < wanted_mib:
        return warning(
            f"{directory} is on a disk with {free_mib} MiB free, and it may grow by up to "
            f"{wanted_mib} MiB",
            "free disk space, or lower --spool-max-mib: records that do not fit are kept in memory",
        )
    if holder := holder_of(directory):
        return warning(
            f"{directory} is writable and held by {holder}",
            "no action if that is the emitter; a second one needs its own --spool-dir",
        )
    sentence = "is writable" if directory.exists() else "can be created"
    return ok(f"{directory} {sentence}, {free_mib} MiB free")


def _layout_version(path: Path) -> int:
    """Return the layout of the database at *path*; 0 if it cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(_VERSION_OFFSET)
            return int.from_bytes(file.read(4), "big")
    except OSError:
        return 0


def check_output(settings: CheckSettings) -> CheckResult:
    """Check that the lines can go to `--output`; nothing is written."""
    if settings.output == LOGS:
        return not_needed("lines go to CloudWatch Logs")
    if sys.stdout is None:
        return failed("standard output is closed", "open it")
    return ok("standard output")
