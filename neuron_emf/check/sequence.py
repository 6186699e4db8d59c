"""
The checks, their order, and the earlier checks that each needs.

A check that cannot run reports why, so that the first failure of the list is the one to act on. No
check is omitted from the list: a program that reads it finds each by its name. If lines do not go
to CloudWatch Logs, AWS is not called.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from neuron_emf.check.aws_client import (
    NO_LOG_GROUP,
    NOT_AUTHENTICATED,
    PROXY_ERROR,
    UNREACHABLE,
    check_caller,
    check_clock,
    connect,
)
from neuron_emf.check.instance import (
    check_attribution,
    check_cluster,
    check_instance,
    check_kernel_log,
    check_output,
    check_payment,
    check_price,
    check_reservations,
    check_spool,
    emitted_instance,
)
from neuron_emf.check.log_groups import (
    Probe,
    check_extraction,
    check_group,
    check_subscription,
    probe_line,
)
from neuron_emf.check.neuron_monitor import check_devices, check_input, check_monitor
from neuron_emf.check.settings import DEFAULT_SOURCE
from neuron_emf.check_results import (
    CHECK_FAILED,
    CHECK_OK,
    CheckResult,
    failed,
    not_needed,
    not_tried,
    ok,
    section,
    warning,
)
from neuron_emitter.delivery.destination import require_group, stream_name
from neuron_emitter.errors import EmitterError, SettingsError
from neuron_emitter.instance.instance_facts import find_instance
from neuron_emitter.lines import differences, require_lines
from neuron_emitter.reports.monitor_config import requested_config
from neuron_emitter.settings.minute_settings import require_cluster
from neuron_emitter.settings.run_settings import LOGS
from neuron_wire.names import REGION_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.check.aws_client import AwsClient
    from neuron_emf.check.settings import CheckSettings, Origin
    from neuron_emitter.command_line import Advance
    from neuron_wire.line_members import Texts

_GROUP = "log group"
_ROLLUPS = "rollups log group"
_OF_ROLLUPS: Final = (_ROLLUPS, f"{_ROLLUPS} class")
_EXTRACTION: Final = "metric extraction"
_OF_AWS: Final = {
    "account": ("region", "credentials", "clock"),
    "log groups": (_GROUP, f"{_GROUP} class", *_OF_ROLLUPS, _EXTRACTION, "subscription"),
    "one line": ("log stream", "log line", "read back"),
}


def run_checks(
    settings: CheckSettings, origins: Sequence[Origin], advance: Advance
) -> list[CheckResult]:
    """Return every check in order; *advance* gets the number of finished and of all parts."""
    parts = 4
    configuration, monitor_config = check_settings(settings, origins)
    advance(1, parts)
    monitor, report = check_monitor(settings, monitor_config)
    facts = find_instance()
    emitted = emitted_instance(facts, report, settings.instance_type)
    devices = check_devices(settings, report, emitted.instance_type)
    advance(2, parts)
    where = {origin.name: origin.where for origin in origins}
    cluster, cluster_name = check_cluster(settings, where["cluster"])
    instance, instance_id = check_instance(settings, facts, report)
    advance(3, parts)
    of_aws = check_aws(settings, where, facts.region, (cluster_name, instance_id))
    reports = {"neuron-monitor": monitor, "devices": devices, "input": check_input(settings)}
    price = check_price(emitted)
    payment = check_payment(settings.paid, emitted)
    identity = {"cluster": cluster, "instance": instance, "price": price, "payment": payment}
    machine = {
        "attribution": check_attribution(settings),
        "reservations": check_reservations(settings),
        "kernel log": check_kernel_log(settings),
        "spool": check_spool(settings),
        "output": check_output(settings),
    }
    advance(parts, parts)
    return [
        *section("configuration", {"settings": configuration}),
        *section("reports", reports),
        *section("identity", identity),
        *of_aws,
        *section("this machine", machine),
    ]


def check_settings(settings: CheckSettings, origins: Sequence[Origin]) -> tuple[CheckResult, str]:
    """
    Try everything that `run` would refuse.

    Also what neuron-monitor is asked for, as JSON; empty when the settings cannot be used.
    """
    try:
        require_lines(settings)
        config = requested_config(settings)
        if settings.cluster:
            require_cluster(settings.cluster)
        if settings.output == LOGS:
            require_group(settings.log_group)
            region = settings.region or "region"  # whether there is one is another check
            stream_name(settings.log_stream, cluster="c", instance_id="i", region=region)
    except SettingsError as error:
        return failed(str(error), "correct it; run would exit with code 2"), ""
    given = sum(origin.is_given for origin in origins)
    remarks = [*differences(settings), *config.warnings]
    if remarks:
        return warning("; ".join(remarks), "no action if that is intended"), config.text
    return ok(f"{given} given, {len(origins) - given} at their defaults"), config.text


def check_aws(
    settings: CheckSettings, where: Texts, instance_region: str | None, names: tuple[str, str]
) -> list[CheckResult]:
    """
    Return the results about the account, its log groups and one line.

    After the first failure that makes the others certain to fail, they are not tried.

    Args:
        settings: The account, the log groups and the stack.

        where: The sources of the settings.

        instance_region: The Region of this machine, for settings without a Region.

        names: The cluster and the instance ID in the line.
    """
    found: dict[str, CheckResult] = {}
    if settings.output != LOGS:
        rest = not_needed(f"lines go to {settings.output}")
    else:
        try:
            aws, found["region"] = _reached(settings, where["region"], instance_region)
        except EmitterError as error:
            problem, _, advice = str(error).rstrip(".").rpartition(". ")  # the advice comes last
            # The SDK also reads a Region from a profile.
            if type(error.__cause__).__name__ == "ProfileNotFound":
                advice = "correct AWS_PROFILE, or unset it"
            found["region"] = failed(problem, advice)
            rest = not_tried("the region is unknown")
        else:
            rest = not_tried(_ask(settings, aws, found, names))
            found["clock"] = check_clock(aws.skew_s)
    return [
        result
        for title, checks in _OF_AWS.items()
        for result in section(title, {check: found.get(check, rest) for check in checks})
    ]


def _reached(
    settings: CheckSettings, origin: str, instance_region: str | None
) -> tuple[AwsClient, CheckResult]:
    """
    Return the client of the account, and the source of its Region.

    Raises:
        EmitterError: If the region is unknown, or no rehearsal runs.
    """
    aws = connect(settings, settings.region)
    if origin == DEFAULT_SOURCE:
        origin = next(filter(os.environ.get, REGION_VARIABLES), "the AWS SDK")
    if aws.account.is_rehearsal:
        origin = "the rehearsal"
    if aws.account.region is None:
        aws = connect(settings, instance_region)
        origin = "the instance metadata"
    return aws, ok(f"{aws.region}, from {origin}")


def _ask(
    settings: CheckSettings,
    aws: AwsClient,
    found: dict[str, CheckResult],
    names: tuple[str, str],
) -> str:
    """Add AWS's results to *found*, by check; return why the missing checks were not tried."""
    found["credentials"], answer = check_caller(aws)
    if answer.reason in NOT_AUTHENTICATED:
        return str(NOT_AUTHENTICATED[answer.reason][0])
    found[_GROUP], group_class, reason = check_group(
        aws,
        aws.account.log_group,
        deploys="deploy the stack there, or correct --log-group and --region",
    )
    found[f"{_GROUP} class"] = group_class
    if reason in {PROXY_ERROR, UNREACHABLE, *NOT_AUTHENTICATED}:
        return "CloudWatch Logs did not answer"
    found |= zip(_OF_ROLLUPS, _check_rollups(settings, aws), strict=True)
    found[_EXTRACTION] = _check_extraction(settings, aws)
    if reason == NO_LOG_GROUP:
        return "there is no log group"
    is_readable = group_class.state != CHECK_FAILED
    found["subscription"] = not_tried("a log group of this class has none")
    if is_readable:
        found["subscription"] = check_subscription(aws)
    now_ms = round(time.time() * 1000)
    text = probe_line(*names, now_ms)
    line = Probe(aws, stream_name("check/{instance}", cluster="", instance_id=names[1]), now_ms)
    found["log stream"] = stream = line.make_stream()
    found["log line"] = line.put_line(text, has_stream=stream.state != CHECK_FAILED)
    if found["log line"].state != CHECK_OK:
        return "no line was accepted"
    if not is_readable:
        return "a log group of this class cannot be read back"
    found["read back"] = line.read_back(text)
    return ""


def _check_rollups(settings: CheckSettings, aws: AwsClient) -> Sequence[CheckResult]:
    if not settings.stack_name:
        return [not_needed("without a stack there are no rollups")] * 2
    return check_group(
        aws,
        aws.account.rollups_log_group,
        deploys="deploy the stack there, or name it with --stack-name ('' for none)",
    )[:2]


def _check_extraction(settings: CheckSettings, aws: AwsClient) -> CheckResult:
    if settings.rehearsal:
        return not_needed("the embedded AWS has no account policies")
    groups = [aws.account.rollups_log_group] if settings.stack_name else []
    if settings.metrics != "none":
        groups.insert(0, aws.account.log_group)
    if not groups:
        return not_needed("lines define no metrics")
    return check_extraction(aws, groups)
