"""
The EMF extraction pump: log lines in, metrics out, on the embedded AWS only.

On AWS nobody calls PutMetricData: CloudWatch itself extracts the metrics of
every Embedded Metric Format line. No emulator does that, so the rehearsal puts
this pump where CloudWatch stands. It uses public APIs only, it holds the one
call of PutMetricData in this repository, and it refuses to make that call to
anything but a loopback address.

* `extraction`   one line to the metrics CloudWatch would extract, or to the
                 rules it breaks; pure
* `tail`         the new events of one log group
* `publishing`   metrics to the embedded AWS
* `pump`         the three of them, once per call
"""

from local.pump.extraction import Datum, Extraction, extract
from local.pump.publishing import publish
from local.pump.pump import Counts, EmfPump
from local.pump.tail import LogEvent, LogTail

__all__ = ["Counts", "Datum", "EmfPump", "Extraction", "LogEvent", "LogTail", "extract", "publish"]
