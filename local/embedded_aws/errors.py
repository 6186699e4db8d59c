"""
What can go wrong, and who is expected to act.

* EmbeddedAwsError    the person at the terminal: the emulator or the SAM CLI is
                      not installed, did not start or refused the template
"""

from __future__ import annotations


class EmbeddedAwsError(RuntimeError):
    """
    The embedded AWS could not do what was asked.

    Attributes:
        output: The last lines that the failing command printed, or an empty text.
    """

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output
