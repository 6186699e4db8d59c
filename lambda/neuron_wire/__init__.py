"""
The contract between the two halves of neuron-emf, schema 1.

The emitter writes lines, the aggregator reads them, and both import this
package under this one name. It uses nothing but the standard library, so that
it costs a Lambda function nothing and can be vendored anywhere.

* `phrases`         how people read durations, money, moments and names
* `names`           schema version, namespaces, kinds, letters of a core's state
* `catalogue`       every metric and property: unit, family, statistic to read it with
* `minute`          the typed record of one instance-minute
* `amounts`         its numbers: which have a field, which are readings
* `cores`           what a line says core by core
* `holders`         who holds the cores that are attached idle
* `idle_holders`    the same out of what several records say
* `owners`          who held which cores, busy or not
* `merging`         several records of one instance and minute become one
* `length`          how long a minute line may be
* `checked`         one member of a line, or why it cannot be
* `line`            one record as one log line, and back
* `extraction`      would CloudWatch extract this line?
* `emf`             how to build one that it does
* `instance_types`  devices, cores and memory by instance type
* `peaks`           what its chips could do at most
* `prices`          what an instance and a core of it cost
* `payment`         whether that is paid in any case
* `money`           amounts rounded so that together they are their rounded total
* `ledger`          what each owner had of an instance in an hour, as rows
* `instance_hours`  how an hour's minutes become them
"""

from neuron_wire.errors import WireFormatError
from neuron_wire.line import OtherRecord, encode, parse
from neuron_wire.minute import MinuteRecord
from neuron_wire.names import CLUSTER_NAMESPACE, NAMESPACE, STACK_NAMESPACE, VERSION

__all__ = [
    "CLUSTER_NAMESPACE",
    "NAMESPACE",
    "STACK_NAMESPACE",
    "VERSION",
    "MinuteRecord",
    "OtherRecord",
    "WireFormatError",
    "encode",
    "parse",
]
