"""
The page of the rehearsal: the template's dashboard, drawn on this machine.

What CloudWatch would draw from the same dashboard body and the same metrics,
served on 127.0.0.1 to a browser. It reads; it changes nothing.

* `dashboard`  the body of the dashboard, with a cluster chosen
* `series`     what a metric widget asks for, searches included
* `cached_history`  the metrics, read again and again at little cost
* `graph`      a metric widget with its points, or why there are none
* `alarms`     the state of every alarm, by the evaluator
* `log_lines`  the lines of the log groups
* `log_table`  a log widget with its rows
* `cores`      instances by cores over time
* `view`       all of it as JSON
* `server`     that, and the files of the page, by HTTP
* `static`     what the browser runs
"""

from local.page.cached_history import CachedHistory
from local.page.log_lines import LogLines
from local.page.server import PageServer
from local.page.view import AccountEndpoint, DashboardView

__all__ = ["AccountEndpoint", "CachedHistory", "DashboardView", "LogLines", "PageServer"]
