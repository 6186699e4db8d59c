"""
One entry of `neuron_runtime_data`: a runtime and the groups of it that are due.

Every runtime lists every core of the instance, 0 for those it does not use:
that is what makes a mean over runtimes wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from local.monitor.configuration import COUNTERS, EXECUTIONS, MEMORY, RUNTIME_VCPU
from local.monitor.memory_groups import RuntimeMemory

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from local.monitor.instance import Moment, SimulatedInstance, SimulatedRuntime

COUNTERS_ERROR: Final = "could not read the counters of the runtime (simulated)"
EXECUTION_ENDINGS: Final = (
    "completed", "completed_with_err", "completed_with_num_err", "timed_out", "incorrect_input",
    "failed_to_queue",
)  # fmt: skip
_SPLIT_PERCENT: Final = 12.0  # how far the physical cores of a logical one lie apart, at most


class RuntimeEntry:
    """One runtime as its reports say it."""

    def __init__(self, instance: SimulatedInstance, runtime: SimulatedRuntime) -> None:
        self.runtime = runtime
        self._instance = instance
        self._memory = RuntimeMemory(instance, runtime)
        self._core_keys = sorted(range(instance.cores), key=str)  # as the real one sorts its keys

    def write(
        self, moment: Moment, periods_s: Mapping[str, float], rng: random.Random
    ) -> tuple[dict[str, object], dict[str, int] | None]:
        """
        Write the groups named in *periods_s*, each over its own period.

        Returns:
            The entry, and what became of the executions, unless they are not due.
        """
        report: dict[str, object] = {}
        ended: dict[str, int] | None = None
        if EXECUTIONS in periods_s:
            ended = self._ended(moment, periods_s[EXECUTIONS], rng)
            report[EXECUTIONS] = self._executions(ended, periods_s[EXECUTIONS], rng)
        if MEMORY in periods_s:
            report[MEMORY] = self._memory.group(periods_s[MEMORY], rng)
        if RUNTIME_VCPU in periods_s:
            report[RUNTIME_VCPU] = self._vcpu(moment, periods_s[RUNTIME_VCPU], rng)
        if COUNTERS in periods_s:
            report[COUNTERS] = self._counters(moment, periods_s[COUNTERS], rng)
        entry: dict[str, object] = {
            "pid": self.runtime.pid,
            "neuron_runtime_tag": self.runtime.tag,
            "error": "",
            "report": report,
        }
        return entry, ended

    def _counters(self, moment: Moment, period_s: float, rng: random.Random) -> dict[str, object]:
        failed = moment.counters_failed
        return {
            "period": period_s,
            "neuroncores_in_use": {
                # Zeros beside an error, as captured: to read them as idle is wrong.
                str(core): self._core(core, 0.0 if failed else moment.percents.get(core, 0.0), rng)
                for core in self._core_keys
            },
            "error": COUNTERS_ERROR if failed else "",
        }

    def _core(self, core: int, percent: float, rng: random.Random) -> dict[str, object]:
        family = self._instance.host.family
        found: dict[str, object] = {
            "neuroncore_utilization": percent or 0,
            "effective_flops": int(percent / 100 * 0.4 * family.peak_tera_flops * 1e12),
        }
        if family.split_name is not None:
            apart = min(_SPLIT_PERCENT * rng.random(), percent, 100 - percent) if percent else 0
            found[family.split_name] = {
                f"nc_v3.{2 * core}": {"neuroncore_utilization": percent - apart or 0},
                f"nc_v3.{2 * core + 1}": {"neuroncore_utilization": percent + apart or 0},
            }
        return found

    def _ended(self, moment: Moment, period_s: float, rng: random.Random) -> dict[str, int]:
        load = self.runtime.load
        ran = load.executions(dict(moment.percents), period_s)
        if moment.percents:
            ran += 1  # also in the milliseconds of a first report something ends
        ended = dict.fromkeys(EXECUTION_ENDINGS, 0)
        if self._instance.scenario.executions_fail and ran:
            ended["completed_with_err"] = min(int(3 * rng.random()), ran)
            ended["completed_with_num_err"] = min(
                int(3 * rng.random()), ran - ended["completed_with_err"]
            )
            ended["timed_out"] = int(1.4 * rng.random())
            ended["incorrect_input"] = int(2 * rng.random())
            ended["failed_to_queue"] = int(1.2 * rng.random())
        ended["completed"] = ran - ended["completed_with_err"] - ended["completed_with_num_err"]
        return ended

    def _executions(
        self, ended: Mapping[str, int], period_s: float, rng: random.Random
    ) -> dict[str, object]:
        return {
            "period": period_s,
            # The causes overlap with the endings below: whoever adds the two counts twice.
            "error_summary": {
                "numerical": ended["completed_with_num_err"],
                "transient": ended["timed_out"],
                "model": 0,
                "runtime": ended["completed_with_err"],
                "hardware": 0,
            },
            "execution_summary": dict(ended),
            "latency_stats": self.runtime.load.latency_stats(ended["completed"], rng),
            "error": "",
        }

    def _vcpu(self, moment: Moment, period_s: float, rng: random.Random) -> dict[str, object]:
        if self._instance.scenario.vcpu_error:
            # As captured in a sidecar with a process namespace of its own, in every report.
            return {
                "period": period_s,
                "vcpu_usage": {"user": 0, "system": 0},
                "error": f"open /proc/{self.runtime.pid}/stat: no such file or directory",
            }
        working = 1.0 if moment.percents else 0.02
        return {
            "period": period_s,
            "vcpu_usage": {
                "user": round(working * (20 + 10 * rng.random()), 2),
                "system": round(working * (2 + 4 * rng.random()), 2),
            },
            "error": "",
        }
