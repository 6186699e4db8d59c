"""
The rehearsal: the whole of neuron-emf on one machine, without an AWS account.

Nothing here runs on an instance or in a Lambda function, and nothing outside
this folder imports it.

* `monitor`        a simulated neuron-monitor that also writes down the truth
* `embedded_aws`   an AWS emulator on 127.0.0.1 and the real SAM CLI against it
* `pump`           EMF lines to metrics, which no emulator does
* `alarms`         the template's own alarms, evaluated as CloudWatch documents it
* `insights`       Logs Insights queries, run on log lines
* `rehearsal`      all of them together: `python -m local.rehearsal`
"""
