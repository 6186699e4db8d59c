"""
The contract between the two halves of neuron-emf, schema 1.

The emitter writes lines, the aggregator reads them, and both import this package under this name.
It uses only the standard library, so that it adds no dependency to a Lambda function.
"""

from neuron_wire.line import OtherRecord, encode, parse
from neuron_wire.line_members import WireFormatError
from neuron_wire.minute_record import MinuteRecord
from neuron_wire.names import CLUSTER_NAMESPACE, RECORD_NAMESPACE, STACK_NAMESPACE, VERSION

__all__ = [
    "CLUSTER_NAMESPACE",
    "RECORD_NAMESPACE",
    "STACK_NAMESPACE",
    "VERSION",
    "MinuteRecord",
    "OtherRecord",
    "WireFormatError",
    "encode",
    "parse",
]
