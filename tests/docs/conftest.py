"""Fixtures that tests of pages share with tests of the template: resources, resolved parameters."""

from __future__ import annotations

from tests.stack.conftest import deployed, template, template_text

__all__ = ["deployed", "template", "template_text"]
