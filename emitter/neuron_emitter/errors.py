"""
The errors of neuron-emf, by the person who must act.

* EmitterError       the superclass, never raised itself
  + SettingsError    the operator: exit 2, a retry does not help
  + SourceError      neuron-monitor or its output is missing, unreadable or silent: exit 3
  + SpoolHeldError   another emitter works in the directory: exit 3, a supervisor may try again
  + SpoolFailedError the spool was closed while it was still in use: exit 3, as above
  + DeliveryError    the destination refused the records: exit 4, they stay in the spool

Exit 0 is success, also after a planned stop that left records in the spool.
"""

from __future__ import annotations

from typing import ClassVar, Final

EXIT_WRONG_USE: Final = 2
EXIT_SOURCE_FAILED: Final = 3
EXIT_DESTINATION_REFUSED: Final = 4


class EmitterError(Exception):
    """
    The superclass of all errors that end a command. It is never raised itself.

    The message is for a person, in at most two sentences: what failed, the value found, what to do.
    It never contains the payload.
    """

    exit_code: ClassVar[int] = 1


class SettingsError(EmitterError):
    """A setting is missing, contradicts another or cannot be used on this machine."""

    exit_code = EXIT_WRONG_USE


class SourceError(EmitterError):
    """The input cannot be read, or contains no report."""

    exit_code = EXIT_SOURCE_FAILED


class DeliveryError(EmitterError):
    """The destination refused the records, which stay in the spool."""

    exit_code = EXIT_DESTINATION_REFUSED
