"""What a single report said, for who wants every report and not only every minute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.fold.amounts import as_percent
from emitter.fold.executions import ExecutionFold

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from emitter.fold.listing import Sample
    from emitter.reports.groups import Runtime


@dataclass(frozen=True, slots=True)
class ReportSample:
    """
    One report that gave a sample of utilization or of executions.

    Attributes:
        at_s: Its receipt, seconds since the Unix epoch.

        period_s: Seconds that its core counters cover, or None without any.

        utilization_percent: Per core, 0 to 100, None where it gave no sample.

        executions: Executions that ended in its period, or None.

        execution_errors: Executions that failed in its period, or None.

        tera_flops: Achieved 10^12 FLOP/s of all cores together, or None.
    """

    at_s: float
    period_s: float | None = None
    utilization_percent: tuple[float | None, ...] = ()
    executions: int | None = None
    execution_errors: int | None = None
    tera_flops: float | None = None

    @classmethod
    def of(
        cls,
        cores: Sample | None,
        runtimes: Iterable[Runtime],
        at_s: float,
        known_cores: int | None,
        matched: AbstractSet[int] | None,
        *,
        none_ran: bool,
    ) -> ReportSample | None:
        """
        What a report said, or None when it gave neither cores nor executions.

        *matched* are the cores that are known with a tag filter, None without one;
        *none_ran* says that executions are known to be 0, because no runtime exists.
        """
        executions = ExecutionFold.of_nobody() if none_ran else ExecutionFold()
        for runtime in runtimes:
            if runtime.report is not None and runtime.report.execution_stats is not None:
                executions.add(runtime.report.execution_stats)
        if cores is None:
            if executions.ended is None:
                return None
            return cls(at_s, executions=executions.ended, execution_errors=executions.failed)
        width = max(known_cores or 0, max(cores.cores, default=-1) + 1)
        return cls(
            at_s,
            period_s=cores.period_s,
            utilization_percent=tuple(
                as_percent(
                    None
                    if matched is not None
                    and core not in matched
                    and not cores.listing.percent.get(core)
                    else cores.utilization_percent(core)
                )
                for core in range(width)
            ),
            executions=executions.ended,
            execution_errors=executions.failed,
            tera_flops=cores.tera_flops(),
        )
