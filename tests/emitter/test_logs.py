"""
Standard error: one event a line, key=value behind it.
"""

from __future__ import annotations

import logging

import pytest
from emitter_process import logging_restored

from emitter.logs import log_to_stderr


@pytest.fixture(autouse=True)
def restored():
    """
    Every test sets logging up for itself.
    """
    with logging_restored():
        yield


def test_an_event_is_one_line_with_its_values(capsys):
    """
    Level in lower case, event, then what was given as extra.
    """
    log_to_stderr(verbose=False)
    extra = {"count": 12, "reason": "too_old", "stage": "sending"}
    logging.getLogger("emitter.delivery.delivery").warning("records dropped", extra=extra)
    expected = "neuron-emf: warning: records dropped count=12 reason=too_old stage=sending\n"
    assert ("", expected) == capsys.readouterr()


def test_what_is_not_for_everybody_is_said_with_verbose(capsys):
    """
    Debug events only then; those of libraries from warnings on, always.
    """
    for verbose in (False, True):
        log_to_stderr(verbose=verbose)
        logging.getLogger("emitter.x").debug("detail")
        logging.getLogger("emitter.x").info("event")
        logging.getLogger("botocore").info("chatter")
        logging.getLogger("botocore").warning("trouble")
        said = capsys.readouterr().err.splitlines()
        expected = ["info: event", "warning: trouble"]
        assert ["debug: detail"] * verbose + expected == [
            line.removeprefix("neuron-emf: ") for line in said
        ]


def test_an_exception_is_told_with_its_trace(capsys):
    """
    A bug must be found; it stands below its event.
    """
    log_to_stderr(verbose=False)
    try:
        raise KeyError("x")  # noqa: EM101, TRY301
    except KeyError:
        logging.getLogger("emitter.x").exception("unexpected", extra={"stage": "sending"})
    said = capsys.readouterr().err
    assert said.startswith("neuron-emf: error: unexpected stage=sending\nTraceback")
    assert said.endswith("KeyError: 'x'\n")
