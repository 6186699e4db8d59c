"""Write the generated blocks of every page: `make pages`, in a clone."""

from __future__ import annotations

import logging

from docs.generate.page_blocks import BLOCK_MAKERS, generated
from local import REPOSITORY

logging.disable()  # examples of events also log
for page in BLOCK_MAKERS:
    text = generated(page)
    if text != (REPOSITORY / page).read_text(encoding="utf-8"):
        (REPOSITORY / page).write_text(text, encoding="utf-8")
        print(f"{page}: written")
