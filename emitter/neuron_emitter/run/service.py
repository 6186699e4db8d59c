"""
Assemble the running emitter from settings, and stop its parts in order.

It knows which part needs which setting, and which settings can change at run time.
"""

from __future__ import annotations

import logging
import os
import termios
from contextlib import ExitStack, suppress
from dataclasses import replace
from fcntl import ioctl
from pathlib import Path
from stat import S_ISFIFO, S_ISSOCK
from threading import Timer
from typing import TYPE_CHECKING, Final

from neuron_emitter.children import FIRST_PROCESS, reap_orphans
from neuron_emitter.errors import EmitterError, SourceError
from neuron_emitter.fold.state import read_state
from neuron_emitter.instance.cluster import ClusterSearch, find_cluster
from neuron_emitter.instance.instance_facts import BackgroundLookup
from neuron_emitter.kernel import KernelFaults, watch_of
from neuron_emitter.lines import differences, require_lines
from neuron_emitter.logs import EventQueue
from neuron_emitter.owners.lookup import owners_of
from neuron_emitter.owners.places import Places
from neuron_emitter.owners.reservations import reservations_reader_of
from neuron_emitter.reports.monitor import Monitor
from neuron_emitter.reports.monitor_config import EXECUTION_STATS, requested_config
from neuron_emitter.reports.source import open_file, standard_input
from neuron_emitter.run.conductor import fold_settings_of
from neuron_emitter.run.identification import LocalSources
from neuron_emitter.run.loop import Emitter
from neuron_emitter.run.outlet import Outlet
from neuron_emitter.run.signals import Signals, Supervisor
from neuron_emitter.settings.minute_settings import require_cluster
from neuron_emitter.settings.run_settings import LOGS, MONITOR_INPUT, STDOUT, spool_directory
from neuron_emitter.spool import Spool
from neuron_wire.names import region_of_variables
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_emitter.fold import FoldSettings
    from neuron_emitter.prometheus.metrics_page import MetricsPage
    from neuron_emitter.reports.monitor_config import MonitorConfig
    from neuron_emitter.reports.source import Source
    from neuron_emitter.settings import RunSettings

_FIXED: Final = """
    attribution input instance_id instance_type kernel_messages monitor_command proc_dir prometheus
    spool_dir spool_max_mib verbose
"""
"""
Settings that only a restart can change, because open files, threads or children depend on them.
"""

INPUT_CHECK_AFTER_S: Final = 10.0  # a monitor that pipes to us has written by then
STDIN_DESCRIPTOR: Final = 0

_log = logging.getLogger(__name__)


def serve(
    settings: RunSettings,
    read_again: Callable[[], RunSettings],
    *,
    is_input_given: bool,
    unnamed_cluster: str,
) -> None:
    """
    Run until the input ends or a signal requests a stop.

    *read_again* reads the settings again after SIGHUP. Without *is_input_given*, a pipe that has
    data and is not read is logged. *unnamed_cluster* is the cluster's name if none is found; if it
    is empty, the emitter refuses to run.

    Raises:
        SettingsError: If a setting is missing or cannot be used.
        SourceError: If the input held no report, or another emitter runs here.
        DeliveryError: If the input ended and records could not be delivered,
            or standard output takes no more lines.
    """
    supervisor = Supervisor()
    search = ClusterSearch(region=settings.region)
    cluster = find_cluster(settings.cluster, search, otherwise=unnamed_cluster).name
    inherits_orphans = os.getpid() == FIRST_PROCESS
    with ExitStack() as stack:
        signals = stack.enter_context(Signals())
        service = Service(replace(settings, cluster=cluster), stack)
        if not is_input_given:
            look = Timer(INPUT_CHECK_AFTER_S, warn_of_unread_input)
            look.daemon = True
            look.start()
            stack.callback(look.cancel)

        def between_minutes() -> None:
            if signals.take_reload():
                supervisor.notify_reloading()
                service.reload_settings(read_again)
                supervisor.notify_ready(service.status_sentence())
            else:
                supervisor.notify_status(service.status_sentence())

        def is_stopping() -> bool:
            # the loop calls this at every turn: if it hangs, the heartbeats stop
            supervisor.notify_watchdog()
            if inherits_orphans:
                reap_orphans()
            return signals.is_stopping()

        supervisor.notify_ready(service.status_sentence())
        ended = service.emitter.read_until(is_stopping, between_minutes)
        supervisor.notify_stopping("delivering the remaining records")
        service.source.close()
        service.emitter.finish(input_ended=ended)


class Service:
    """
    The parts of one emitter for *settings*, whose `cluster` has been resolved.

    *stack* closes the opened parts.

    Raises:
        SettingsError: If a setting is missing or cannot be used.
        SourceError: If there is nothing to read, or another emitter runs here.
        DeliveryError: If standard output is closed.
    """

    def __init__(self, settings: RunSettings, stack: ExitStack) -> None:
        self._settings = settings
        for sentence in differences(require_lines(settings)):
            _log.warning(sentence)
        if settings.interval is not None:
            _log.warning("--interval has no effect on run: reports contain their periods. Omit it.")
        events = EventQueue()
        config = logged_config(settings)
        self.source = _source(settings, config, events)
        stack.callback(self.source.close)
        self._lookup = BackgroundLookup(roots=(Places.around(settings.proc_dir).root, Path("/")))
        stack.callback(self._lookup.close)
        self._spool = stack.enter_context(
            Spool(
                spool_directory(settings),
                max_bytes=settings.spool_max_mib << 20,
                on_event=events.add_event,
            )
        )
        state = read_state(self._spool.state).kernel
        kernel = watch_of(settings.kernel_messages, settings.input, state)
        owners = owners_of(settings.attribution, settings.input, settings.proc_dir)
        reservations = reservations_reader_of(
            settings.attribution, settings.input, settings.proc_dir
        )
        for part in (kernel, owners, reservations):
            if part is not None:
                stack.callback(part.close)
        page = _page(settings, stack)
        self.emitter = Emitter(
            settings,
            self.source,
            self._spool,
            self._outlet(settings),
            _fold_settings(settings, config),
            local=LocalSources(
                self._lookup.wait_for_facts, owners, reservations, KernelFaults(kernel), events
            ),
            page=page,
        )
        stack.callback(lambda: self.emitter.outlet.stop_sending())  # noqa: PLW0108 - it may be another then
        self.emitter.outlet.look_ahead()

    def reload_settings(self, read_again: Callable[[], RunSettings]) -> None:
        """Apply the settings that can change at run time; an invalid setting changes nothing."""
        try:
            given = read_again()
            # Rejected if it contradicts the attribution that stays until a restart.
            settings = replace(
                given,
                attribution=self._settings.attribution,
                cluster=require_cluster(given.cluster or self._settings.cluster),
            )
            config = logged_config(settings)
            outlet = self._outlet(settings)
            self.emitter.change_settings(settings, _fold_settings(settings, config))
        except EmitterError as error:
            _log.error("Configuration not reloaded. %s", error)
            return
        if isinstance(self.source, Monitor):
            try:
                self.source.reconfigure(config.text, config.period_s)
            except SourceError as error:
                _log.error("neuron-monitor keeps its previous configuration. %s", error)
        before = self._settings
        # standard output takes one writer
        stays_stdout = settings.output == before.output == STDOUT
        if not stays_stdout:
            self.emitter.replace_outlet(outlet)
        fixed = [name for name in _FIXED.split() if getattr(given, name) != getattr(before, name)]
        extra = {"until_restart": ",".join(name.replace("_", "-") for name in fixed)}
        _log.info("configuration reloaded", extra=extra if fixed else {})
        self._settings = settings

    def status_sentence(self) -> str:
        """The status that `systemctl status` shows."""
        health = self._spool.health()
        waiting = health.records + health.older_records
        dropped = sum(health.dropped.values()) + health.older_dropped
        return (
            f"cluster {self._settings.cluster}: {counted(health.delivered, 'record')} delivered, "
            f"{waiting} waiting, {dropped} dropped; {self.source.name} restarted "
            f"{counted(self.source.restarts, 'time')}"
        )

    def _outlet(self, settings: RunSettings) -> Outlet:
        region = None
        if settings.output == LOGS and not (settings.region or region_of_variables(os.environ)):
            region = self._lookup.wait_for_facts().region
        return Outlet(settings, self._spool, instance_region=region)


def _page(settings: RunSettings, stack: ExitStack) -> MetricsPage | None:
    """
    Start the server for Prometheus, which *stack* closes; None without --prometheus.

    Raises:
        SettingsError: If the address cannot be opened.
    """
    if settings.prometheus is None:
        return None
    from neuron_emitter.prometheus.metrics_page import MetricsPage  # noqa: PLC0415 - 26 ms, 2 MB for --prometheus
    from neuron_emitter.prometheus.scrape_server import ScrapeServer  # noqa: PLC0415 - as above

    page = MetricsPage()
    server = ScrapeServer(settings.prometheus, page)
    stack.callback(server.close)
    _log.info("Prometheus can scrape http://%s/metrics", server.address)
    if not server.address.is_loopback:
        _log.warning(
            "Anyone who can reach http://%s/metrics can read it: it has no "
            "authentication and no encryption, and names who holds each core.",
            server.address,
        )
    return page


def logged_config(settings: RunSettings) -> MonitorConfig:
    """Return the configuration for neuron-monitor, and log its warnings."""
    config = requested_config(settings)
    for warning in config.warnings:
        _log.warning(warning)
    return config


def _fold_settings(settings: RunSettings, config: MonitorConfig) -> FoldSettings:
    # otherwise we do not know what the monitor was asked for
    is_ours = settings.input == MONITOR_INPUT
    return replace(
        fold_settings_of(settings),
        period_s=config.period_s if is_ours else None,
        only_matched=config.only_matched,
        executions_asked=is_ours and EXECUTION_STATS in config.groups,
        paid=settings.paid,
    )


def _source(settings: RunSettings, config: MonitorConfig, events: EventQueue) -> Source:
    if settings.input == MONITOR_INPUT:
        return Monitor(
            settings.monitor_command, config.text, config.period_s, on_event=events.add_event
        )
    if settings.input == "-":
        return standard_input()
    return open_file(Path(settings.input))


def warn_of_unread_input() -> None:
    """
    Warn if bytes wait in standard input: reports are piped to us by mistake.

    Supervisors and ssh give a program a pipe that stays empty.
    """
    is_waiting = False
    with suppress(OSError):  # standard input is closed
        mode = os.fstat(STDIN_DESCRIPTOR).st_mode
        is_pipe = S_ISFIFO(mode) or S_ISSOCK(mode)
        is_waiting = is_pipe and any(ioctl(STDIN_DESCRIPTOR, termios.FIONREAD, bytes(4)))
    if is_waiting:
        _log.warning(
            "Standard input is a pipe that is being written to, but it is not read. Use "
            "--input - to read reports from it instead of starting neuron-monitor."
        )
