"""What the tests of several commands share: how a command is typed."""

from __future__ import annotations

import pytest

from neuron_emf.cli import main


@pytest.fixture
def typed(capsys):
    """Type `neuron-emf` and what follows; give its exit code, standard output and error."""

    def call(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        found = capsys.readouterr()
        return ended.value.code, found.out, found.err

    return call
