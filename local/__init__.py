"""
The rehearsal: the whole of neuron-emf on one machine, without an AWS account.

Nothing here runs on an instance or in a Lambda function, and nothing outside
this folder imports it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
