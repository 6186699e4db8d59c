"""
`neuron-emf scrub`: reports and log lines that can be shared.

An allow-list decides: what it does not name is removed, what it names as text
is kept only where it cannot identify anybody, and numbers stay as they are.

* `command`         the command
* `documents`       the JSON objects of a file, one by one
* `shapes`          what may stay of a JSON value
* `report_members`  the allow-list of reports
* `line_members`    the allow-list of log lines
* `pseudonyms`      other names for names
"""
