"""What was given, as the sources of all schedulers tell it in turn, and as it is said where not."""

from __future__ import annotations

import logging
import threading

import pytest
from played_kubelet import CORE, TRAINER, answers, listed
from played_machines import POD
from test_kubelet_sources import checkpoint, entry

from emitter.owners.given import Allocation, Given, UnreadError
from emitter.owners.reservations import (
    KEPT_S,
    READ_EVERY_S,
    Reservations,
    Scheduler,
    given_of,
    saved_given,
    schedulers_of,
)
from proof.emitter_process import wait_until

JOB = Allocation("slurm:4711 ada", "physics", devices=frozenset({0}), is_exact=True)
POD_A = Allocation("ml/a/main", "ml", cores=frozenset({2}))
UNREAD = Given("unread")


class PlayedSource:
    """A source that tells, or does not."""

    def __init__(self, name, *told):
        self.name = name
        self.told = told
        self.asked = 0

    def read_allocations(self):
        self.asked += 1
        if isinstance(self.told, Exception):
            raise self.told
        return self.told

    def fails(self, reason="it hangs"):
        self.told = UnreadError(reason, "Mend it")


class Clock:
    """Seconds that only the test moves."""

    now_s = 1000.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


def reservations(clock, *schedulers):
    found = Reservations(schedulers, clock=clock, is_background=False)
    found.read_schedulers()
    return found


def is_here():
    return True


def is_not_here():
    return False


def test_without_a_scheduler_there_is_nothing_to_read(clock):
    """Its sources are not asked, and nothing is said."""
    source = PlayedSource("s", POD_A)
    assert Given("none") == reservations(clock, Scheduler(is_not_here, [source])).current_given()
    assert 0 == source.asked


def test_the_first_source_that_tells_is_believed(clock):
    """The next ones are not asked; nothing given is told, too."""
    first, second = PlayedSource("first"), PlayedSource("second", POD_A)
    found = reservations(clock, Scheduler(is_here, [first, second]))
    assert Given("read", (), ("first",)) == found.current_given()
    first.fails()
    fresh = reservations(clock, Scheduler(is_here, [first, second]))
    assert Given("read", (POD_A,), ("second",)) == fresh.current_given()


def test_every_scheduler_must_tell(clock):
    """What two gave stands together; of what one gave alone nobody knows what is left."""
    pods, jobs = PlayedSource("kubelet", POD_A), PlayedSource("slurm", JOB)
    schedulers = [Scheduler(is_here, [pods]), Scheduler(is_here, [jobs])]
    found = reservations(clock, *schedulers)
    assert Given("read", (POD_A, JOB), ("kubelet", "slurm")) == found.current_given()
    jobs.fails()
    assert UNREAD == reservations(clock, *schedulers).current_given()


def test_the_last_answer_counts_for_two_minutes(clock):
    """Before a source that is asked next: a scheduler that restarts changes nothing."""
    first, second = PlayedSource("first", POD_A), PlayedSource("second")
    found = reservations(clock, Scheduler(is_here, [first, second]))
    first.fails()
    for _ in range(int(KEPT_S / READ_EVERY_S)):
        clock.now_s += READ_EVERY_S
        found.read_schedulers()
        assert Given("read", (POD_A,), ("first",)) == found.current_given()
    clock.now_s += READ_EVERY_S
    assert UNREAD == found.current_given(), "also where nobody reads: the thread may hang"
    found.read_schedulers()
    assert Given("read", (), ("second",)) == found.current_given()


def test_a_failure_is_said_once_until_it_has_cleared(clock, caplog):
    """With what to do; each reason by itself, and that it has cleared."""
    caplog.set_level(logging.INFO)
    source = PlayedSource("the socket")
    found = reservations(clock, Scheduler(is_here, [source]))
    for reason in ("it hangs", "it hangs", "it lies", "it hangs", None, None, "it hangs"):
        source.fails(reason) if reason else setattr(source, "told", ())
        found.read_schedulers()
    hangs = "Cannot read reserved cores from the socket: it hangs. Mend it."
    again = "Reserved cores are read from the socket again."
    assert [hangs, hangs.replace("hangs", "lies"), again, hangs] == caplog.messages


def test_in_the_background_one_failure_alone_is_not_said(clock, caplog):
    """A container beside the emitter may start a moment later."""
    source = PlayedSource("the file")
    source.fails()
    found = Reservations([Scheduler(is_here, [source])], clock=clock)
    try:
        wait_until(lambda: source.asked)
        assert [] == caplog.messages
        found.read_schedulers()
        assert 1 == len(caplog.messages)
    finally:
        found.close()


def test_a_source_that_breaks_is_one_that_does_not_tell(clock, caplog):
    """Only its kind is said: the text may hold what it read."""
    source = PlayedSource("broken")
    source.told = KeyError("a secret")
    assert UNREAD == reservations(clock, Scheduler(is_here, [source])).current_given()
    assert "KeyError" in caplog.text
    assert "secret" not in caplog.text


def test_ids_that_were_dropped_are_said_once(clock, caplog):
    """By the source that had them."""
    source = PlayedSource("the socket", POD_A._replace(odd_ids=2), JOB._replace(odd_ids=1))
    found = reservations(clock, Scheduler(is_here, [source]))
    found.read_schedulers()
    (message,) = caplog.messages
    assert message.startswith("Dropped 3 of the ids from the socket: ")


def test_names_are_shown_as_those_of_holders(clock):
    """They are other people's: printable, and as long as a line takes."""
    source = PlayedSource("s", POD_A._replace(name="ml/" + "a\x1b" * 99, team="t" * 99))
    (found,) = reservations(clock, Scheduler(is_here, [source])).current_given().allocations
    assert ("ml/" + "a?" * 62 + "a", "t" * 63) == (found.name, found.team)


def test_a_source_that_hangs_holds_nobody_up():
    """Whoever asks gets what is known, and the thread ends when it may."""
    released = threading.Event()

    class Hanging(PlayedSource):
        def read_allocations(self):
            super().read_allocations()
            released.wait()
            return [POD_A]

    source = Hanging("hanging")
    found = Reservations([Scheduler(is_here, [source])])
    try:
        wait_until(lambda: source.asked)
        assert UNREAD == found.current_given()
        released.set()
        wait_until(lambda: found.current_given().allocations == (POD_A,))
    finally:
        released.set()
        found.close()
    wait_until(lambda: "reservations" not in {one.name for one in threading.enumerate()})


# --- on a machine ---


def names(places):
    return [[source.name for source in one.sources] for one in schedulers_of(places)]


def test_sources_are_asked_in_their_order(node, kubelet, clock):
    """Of the kubelet what a container hands over where one does, the socket, the checkpoint."""
    own = ["the kubelet's pod-resources socket", "the kubelet's checkpoint"]
    handed_over = ["the container reservations of this pod"]
    assert [own, ["the bundles of containers"], ["scontrol"]] == names(node.places)
    node.file("run/neuron-emf/reservations.json", "{}")
    assert handed_over == names(node.places)[0], "nobody is told to mount what the chart does not"
    (node.root / "var/lib/kubelet").mkdir(parents=True)
    assert handed_over + own == names(node.places)[0]
    node.file(f"var/log/pods/ml_trainer-0_{POD}/main/0.log", "")
    checkpoint(node, entry(CORE, ["0", "1"]))
    found = reservations(clock, *schedulers_of(node.places)).current_given()
    assert ("read", ("the kubelet's checkpoint",)) == (found.status, found.sources)
    kubelet(answers(listed(TRAINER)))
    asked = reservations(clock, *schedulers_of(node.places)).current_given()
    assert ("the kubelet's pod-resources socket",) == asked.sources
    assert found.allocations == asked.allocations


@pytest.mark.parametrize(("attribution", "expected"), [("auto", "read"), ("none", "unread")])
def test_without_attribution_it_is_only_looked_whether_there_is_a_scheduler(
    node, attribution, expected
):
    """Where there is one, what it gave is unread, not nothing."""
    for status in ("none", expected):
        found = given_of(attribution, "monitor", node.proc)
        wait_until(lambda status=status, found=found: found.current_given().status == status)
        found.close()
        checkpoint(node)
    assert given_of(attribution, "/reports.json", node.proc) is None, "they may be of any machine"


def test_of_a_saved_machine_only_files_are_read(node, kubelet):
    """No socket that was saved with them, and nothing of the machine that replays."""
    kubelet(answers(listed()))
    node.file(f"var/log/pods/ml_trainer-0_{POD}/main/0.log", "")
    checkpoint(node, entry(CORE, ["0", "1"]))
    found = saved_given(node.proc)
    assert ("read", ("the kubelet's checkpoint",)) == (found.status, found.sources)
    assert saved_given(None) is None
