"""
The running emitter.

* `service`         puts the parts together, and ends them in order
* `loop`            gives each report its moment, and closes each minute on time
* `identification`  which instance the lines are of
* `outlet`          from the spool to where the lines go
* `unread_input`    a pipe of reports that nobody reads
* `signals`         SIGTERM, SIGINT and SIGHUP as flags
"""
