"""
`python -m neuron_emitter.owners`: write the kubelet's assignments to a shared file, until stopped.

It runs in its own container, as root without capabilities, next to an emitter that is not root.
"""

from __future__ import annotations

import signal
import sys
import time
from signal import SIGTERM

from neuron_emitter.owners.kubelet import hand_over
from neuron_emitter.owners.places import Places
from neuron_emitter.owners.pod_resources import PodResources
from neuron_emitter.owners.reservations import READ_EVERY_S


def main() -> None:
    """Run until a signal asks to stop: the first process of a container must handle signals."""
    signal.signal(SIGTERM, lambda *_: sys.exit())
    places = Places()
    while True:
        hand_over(PodResources(places), places.handed_over, time.time())
        time.sleep(READ_EVERY_S)


if __name__ == "__main__":
    main()
