"""
`python -m neuron_emitter.owners`: hand over the assignments of the kubelet, for ever.

In a container of its own that is root without a capability, beside an emitter that is not.
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
    """Go on until a signal asks to end, which the first process of a container must answer."""
    signal.signal(SIGTERM, lambda *_: sys.exit())
    places = Places()
    while True:
        hand_over(PodResources(places), places.handed_over, time.time())
        time.sleep(READ_EVERY_S)


if __name__ == "__main__":
    main()
