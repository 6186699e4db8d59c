"""
What the evaluator refuses to guess.

* AlarmDefinitionError    whoever wrote the alarm: it uses something that the
                          evaluator does not know, so its state would be invented
"""

from __future__ import annotations


class AlarmDefinitionError(ValueError):
    """An alarm, a query or a template function that the evaluator does not know."""
