"""
What the page refuses.

* DashboardError        whoever wrote the dashboard: it uses something that the
                        page does not know, so a drawing of it would be invented
* UnknownClusterError   whoever asked: there is no such cluster
"""

from __future__ import annotations


class DashboardError(ValueError):
    """A dashboard, a widget or a metric in a form that the page does not know."""


class UnknownClusterError(ValueError):
    """A cluster that no metric is of."""
