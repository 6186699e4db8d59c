"""
The EMF extraction pump: log lines in, metrics out, on the embedded AWS only.

On AWS nobody calls PutMetricData: CloudWatch itself extracts the metrics of
every Embedded Metric Format line. No emulator does that, so the rehearsal puts
this pump where CloudWatch stands. It uses public APIs only, it holds the one
call of PutMetricData in this repository, and it refuses to make that call to
anything but a loopback address.
"""
