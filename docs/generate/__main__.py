"""Write the generated blocks of every page: `make pages`, in a clone."""

from __future__ import annotations

import logging

from docs.generate.pages import MAKERS, ROOT, generated

logging.disable()  # examples of events log what they are examples of
for page in MAKERS:
    text = generated(page)
    if text != (ROOT / page).read_text(encoding="utf-8"):
        (ROOT / page).write_text(text, encoding="utf-8")
        print(f"{page}: written")
