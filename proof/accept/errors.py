"""
What stops an acceptance, and who acts.

* AcceptError    the person at the terminal: something is in the way, or AWS did not get there
"""

from __future__ import annotations


class AcceptError(Exception):
    """A step cannot go on; what was made is removed all the same."""
