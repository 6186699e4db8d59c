"""What the tests of pages share with those of the template: its resources, parameters resolved."""

from __future__ import annotations

from tests.stack.conftest import deployed, template, template_text

__all__ = ["deployed", "template", "template_text"]
