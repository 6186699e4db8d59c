"""`python -m local.rehearsal`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
EXIT_NO_READER = 141  # 128 + SIGPIPE

# Where the functions live: a root folder of its own, which is not installed.
sys.path.append(str(Path(__file__).resolve().parents[2] / "lambda"))


def main() -> int:
    """Run the command line; a Ctrl-C before it listens to signals ends it without a word."""
    try:
        from local.rehearsal import command_line  # noqa: PLC0415 - takes half a second

        return command_line.main()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read has what they wanted; the interpreter must not complain of it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_NO_READER


if __name__ == "__main__":
    sys.exit(main())
