"""`python -m local.monitor`."""

from __future__ import annotations

import sys

from local.monitor.command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
