"""
Would CloudWatch extract these lines? For anyone who writes Embedded Metric Format.

The rules are those by which an emitter checks each of its own lines,
`neuron_wire.extraction`. What stands here is for people: which lines are meant
to be EMF at all, what is extracted but surprises, what to do.

* `lines`       the lines of a file, however long, in little memory
* `verdict`     one line: what it is, and what is wrong with it
* `surprises`   what CloudWatch extracts otherwise than its writer thinks
* `advice`      every rule: what it means, and what to do
* `tally`       what was found in all lines
* `listing`     the same for a person, and for a program
* `command`     what is typed
"""
