"""`python -m proof.reliability`: docs/explanation/reliability.md from docs/figures."""

from __future__ import annotations

import sys
from pathlib import Path

from proof.reliability.page import MissingRecordError, page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "reliability.md"


def main() -> int:
    """The exit code: 1 when a record is missing."""
    try:
        text = page()
    except MissingRecordError as error:
        print(error, file=sys.stderr)
        return 1
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
