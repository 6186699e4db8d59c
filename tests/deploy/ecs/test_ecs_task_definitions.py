"""The task definitions that task_definition.py prints, beside what they are made of."""

from __future__ import annotations

import dataclasses
import json
import re
import sys

import pytest

from emitter.reports.child import STOP_WITHIN_S
from emitter.run.outlet import FLUSH_WITHIN_S
from emitter.settings.run import RunSettings
from neuron_wire.instance_types import INSTANCE_TYPES
from tests.programs import run_program

AWS_RESERVES_MIB = 128  # in its own DaemonSet, for neuron-monitor
AWS_ALLOWS_MIB = 500
COUNTS = sorted({row.devices for row in INSTANCE_TYPES.values()})


@pytest.fixture(scope="session")
def definition(programs_of_ecs):
    """The module `task_definition`."""
    return programs_of_ecs[0]


@pytest.fixture(scope="session")
def made(programs_of_ecs):
    """Both task definitions for a number of devices."""
    definition, files = programs_of_ecs

    def both(devices):
        return {
            "daemon": definition.daemon(devices, files.EXAMPLE),
            "sidecar": definition.sidecar(devices, files.EXAMPLE, files.EXAMPLE_APP),
        }

    return both


def emitter_in(task):
    """The emitter's container."""
    (container,) = (one for one in task["containerDefinitions"] if one["name"] == "neuron-emf")
    return container


def variables_of(container):
    """The variables that a container is given."""
    return {one["name"]: one["value"] for one in container["environment"]}


@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
@pytest.mark.parametrize("devices", COUNTS)
def test_register_task_definition_takes_it(made, kind, devices, fault_of):
    """Every member is one of the API's, of its type and of its enumeration."""
    call = ["ecs", "register-task-definition", "--cli-input-json", "file://task.json"]
    assert fault_of(call, {"task.json": json.dumps(made(devices)[kind])}) is None


@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
@pytest.mark.parametrize("name", sorted(INSTANCE_TYPES))
def test_an_instance_type_gets_its_devices_and_no_other(made, kind, name):
    """
    As many as the wire's table has, counted from 0; placed where that type is named, and once.
    """
    row = INSTANCE_TYPES[name]
    task = made(row.devices)[kind]
    mapped = emitter_in(task)["linuxParameters"]["devices"]
    paths = [f"/dev/neuron{index}" for index in range(row.devices)]
    assert paths == [one["hostPath"] for one in mapped] == [one["containerPath"] for one in mapped]
    (constraint,) = task["placementConstraints"]
    listed = re.fullmatch(r"attribute:ecs\.instance-type in \[(.+)\]", constraint["expression"])[1]
    assert 1 == listed.split(", ").count(name)


def test_an_instance_type_is_in_one_list_only(definition):
    """Or two daemons would run on one instance."""
    names = [name for names in definition.types_by_devices().values() for name in names]
    assert sorted(INSTANCE_TYPES) == sorted(names)


@pytest.mark.parametrize("devices", COUNTS)
def test_a_daemon_sees_the_instance(made, devices):
    """Its pids, and the agent that listens on its loopback; the spool outlives the task."""
    task = made(devices)["daemon"]
    assert ("host", "host") == (task["pidMode"], task["networkMode"])
    assert ["CMD", "neuron-emf", "check", "--quick"] == emitter_in(task)["healthCheck"]["command"]
    assert "auto" == variables_of(emitter_in(task))["NEURON_EMF_ATTRIBUTION"]
    (volume,) = task["volumes"]
    assert "shared" == volume["dockerVolumeConfiguration"]["scope"]


@pytest.mark.parametrize("devices", COUNTS)
def test_a_sidecar_cannot_end_the_task_it_is_in(made, devices):
    """
    It is not essential and comes back by itself; it shares the application's devices, has a spool
    of its own, and names nobody, because the pids that it could see are not those in reports.
    """
    task = made(devices)["sidecar"]
    app, emitter = task["containerDefinitions"]
    assert (True, False) == (app["essential"], emitter["essential"])
    assert emitter["restartPolicy"]["enabled"]
    assert "healthCheck" not in emitter  # ECS acts on that of essential containers only
    assert app["linuxParameters"]["devices"] == emitter["linuxParameters"]["devices"]
    assert "none" == variables_of(emitter)["NEURON_EMF_ATTRIBUTION"]
    assert "pidMode" not in task
    (volume,) = task["volumes"]
    assert "task" == volume["dockerVolumeConfiguration"]["scope"]


@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
def test_the_container_has_no_right_that_it_does_not_need(made, kind):
    """
    Not privileged, no root, no capability, nothing to write to but its spool and a small /tmp.
    """
    container = emitter_in(made(1)[kind])
    assert {"drop": ["ALL"]} == container["linuxParameters"]["capabilities"]
    assert container["readonlyRootFilesystem"]
    assert ["no-new-privileges"] == container["dockerSecurityOptions"]
    assert {"privileged", "user"}.isdisjoint(container)
    assert ["/tmp"] == [one["containerPath"] for one in container["linuxParameters"]["tmpfs"]]
    (mount,) = container["mountPoints"]
    assert variables_of(container)["NEURON_EMF_SPOOL_DIR"] == mount["containerPath"]


@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
def test_every_setting_is_one_of_run(made, kind):
    """A variable that no setting reads would be overlooked without a word."""
    known = {f"NEURON_EMF_{field.name.upper()}" for field in dataclasses.fields(RunSettings)}
    ours = {name for name in variables_of(emitter_in(made(1)[kind])) if name != "GOMEMLIMIT"}
    assert set() == ours - known


@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
def test_memory_is_what_was_measured(repository, made, kind):
    """
    Reserved: what the benchmarks found and what AWS reserves for neuron-monitor. At most: their
    limit and what AWS allows it. The heap that neuron-monitor works towards fits in between.
    """
    figures = json.loads((repository / "docs" / "figures" / "benchmarks.json").read_text("utf-8"))
    text = json.dumps(figures)
    found = re.search(
        r'"resident memory, --output logs", "([\d.]+) MiB", "[^"]+", "[^"]+", "(\d+)"', text
    )
    measured_mib, limit_mib = float(found[1]), float(found[2])
    container = emitter_in(made(1)[kind])
    assert measured_mib + AWS_RESERVES_MIB <= container["memoryReservation"]
    assert limit_mib + AWS_ALLOWS_MIB <= container["memory"]
    heap_mib = int(variables_of(container)["GOMEMLIMIT"].removesuffix("MiB"))
    assert limit_mib + heap_mib < container["memory"]


@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
def test_a_log_that_is_away_does_not_stop_the_reading(made, kind):
    """Standard error is never waited for, and does not go to the group of the records."""
    container = emitter_in(made(1)[kind])
    options = container["logConfiguration"]["options"]
    assert "non-blocking" == options["mode"]
    assert variables_of(container)["NEURON_EMF_LOG_GROUP"] != options["awslogs-group"]


@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
def test_a_stop_leaves_time_to_flush(made, kind):
    """neuron-monitor ends, the minute is closed and sent, before ECS kills."""
    assert FLUSH_WITHIN_S + STOP_WITHIN_S < emitter_in(made(1)[kind])["stopTimeout"]


def printed(ecs_folder, kind, *words):
    """What the program does as a person types it, without neuron-emf installed."""
    given = ("--image", "i", "--region", "r", "--task-role", "t", "--execution-role", "e")
    program = (sys.executable, "-IS", ecs_folder / "task_definition.py", kind, *given, *words)
    return run_program(program)


def test_the_program_prints_what_its_functions_make(ecs_folder, definition):
    """Of a type, or of a number; a group of the devices is the user's, beside the image's user."""
    place = definition.Place("i", "r", "t", "e")
    run = printed(ecs_folder, "daemon", "--instance-type", "inf1.6xlarge")
    assert definition.daemon(4, place) == json.loads(run.stdout)
    words = ("--devices", "1", "--device-group", "998", "--app-image", "app:1")
    task = json.loads(printed(ecs_folder, "sidecar", *words).stdout)
    assert "10001:998" == emitter_in(task)["user"]
    refused = printed(ecs_folder, "daemon", "--instance-type", "m5.large")
    assert 2 == refused.returncode
    assert "trn1.32xlarge" in refused.stderr


def test_the_user_is_the_images(repository, definition):
    """The file system of the image, its spool among it, is that user's."""
    containerfile = repository / "deploy" / "container" / "Containerfile"
    assert f"\nUSER {definition.USER}:" in containerfile.read_text("utf-8")


def test_an_older_python_is_told_in_one_sentence(ecs_folder):
    """The python3 of Amazon Linux 2023 is 3.9: no traceback, and what to do."""
    program = (
        "import runpy, sys; sys.version_info = (3, 9, 25); "
        f"runpy.run_path({str(ecs_folder / 'task_definition.py')!r}, run_name='__main__')"
    )
    run = run_program([sys.executable, "-ISc", program])
    assert (2, "") == (run.returncode, run.stdout)
    (line,) = run.stderr.splitlines()
    assert "This is Python 3.9. Use 3.10 or later" in line


def test_the_files_are_as_the_programs_write_them(programs_of_ecs, golden):
    """daemon.json, sidecar.json and the written parts of service.yaml."""
    for path, text in programs_of_ecs[1].files().items():
        golden(path, text)
