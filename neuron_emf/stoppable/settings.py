"""The settings of `neuron-emf stoppable`."""

from __future__ import annotations

from dataclasses import dataclass

from emitter.settings.declaration import setting
from neuron_emf.account import AccountSettings
from neuron_emf.payment import PAID_FORM, PAID_HELP


@dataclass(frozen=True, kw_only=True)
class StoppableSettings(AccountSettings):
    """Where the instance's lines are, and how it is paid."""

    paid_by_type: str = setting("", PAID_HELP, metavar=PAID_FORM)
    json: bool = setting(default=False, help_text="Print the verdict as one JSON document.")
