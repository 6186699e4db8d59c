"""
The words that a rule of the service rests on, beside the test of the rule.

Most stand in the service's model, which the SDK brings: there they are looked
up, so that a quote cannot drift. What the model does not say names its page.
"""

from __future__ import annotations

import functools
import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import botocore.session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Test = TypeVar("Test", bound="Callable[..., object]")

PAGES = "https://docs.aws.amazon.com/"
BOUNDS = ("min", "max", "pattern")
_TAG = re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class Quote:
    """
    Some words of the documentation.

    Attributes:
        place: An operation of the model, a shape, a shape's member, or the address of a page.
    """

    place: str
    words: str

    @property
    def is_in_the_model(self) -> bool:
        """Whether it can be looked up here."""
        return not self.place.startswith(PAGES)

    def __str__(self) -> str:
        return f"{self.place}: {self.words}"


def says(place: str, *words: str) -> Callable[[Test], Test]:
    """Decorate a test with what *place* says of its rule."""

    def quoted(test: Test) -> Test:
        marked: Any = test
        marked.quotes = [*getattr(test, "quotes", ()), *(Quote(place, one) for one in words)]
        return test

    return quoted


def quotes_in(module: Mapping[str, Any]) -> list[Quote]:
    """All that the tests of a module quote."""
    return [quote for found in module.values() for quote in getattr(found, "quotes", ())]


def text_at(place: str) -> str:
    """What the model says there, without its markup; a shape's bounds are at the end."""
    model = _model()
    if place in model.operation_names:
        return _plain(model.operation_model(place).documentation)
    name, _, member = place.partition(".")
    shape: Any = model.shape_for(name)
    if member:
        shape = shape.members[member]
    bounds = [f"{bound}: {shape.metadata[bound]}" for bound in BOUNDS if bound in shape.metadata]
    return " ".join([_plain(shape.documentation), *bounds])


@functools.cache
def _model() -> Any:
    return botocore.session.get_session().get_service_model("logs")


def _plain(text: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", text)).split())
