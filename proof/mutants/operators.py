"""
What a mutant may be: which of cosmic-ray's operators, and three of our own.

cosmic-ray replaces each operator by every other; one at the boundary and one
that says the opposite find what the others would, in a quarter of the time.
Its own operators leave statements and `in` alone, so one here removes statements
that do something (a call, an assignment to an attribute or an item, an
addition), and one says that what is in something is not. Its `not` before a
condition is made only where none of the others says the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import parso
from cosmic_ray.operators.boolean_replacer import AddNot
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.plugins import get_operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    Position = tuple[tuple[int, int], tuple[int, int]]

COMPARISONS: Final = {
    "Lt": ("LtE", "GtE"), "LtE": ("Lt", "Gt"), "Gt": ("GtE", "LtE"), "GtE": ("Gt", "Lt"),
    "Eq": ("NotEq",), "NotEq": ("Eq",), "Is": ("IsNot",), "IsNot": ("Is",),
}  # fmt: skip
ARITHMETIC: Final = {
    "Add": "Sub", "Sub": "Add", "Mul": "Div", "Div": "Mul", "FloorDiv": "Mul", "Mod": "Mul",
    "Pow": "Mul", "LShift": "RShift", "RShift": "LShift", "BitOr": "BitAnd", "BitAnd": "BitOr",
    "BitXor": "BitAnd",
}  # fmt: skip
WHOLE: Final = (
    "ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_Delete_USub", "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak", "ExceptionReplacer", "NumberReplacer", "RemoveDecorator",
    "ZeroIterationForLoop",
)  # fmt: skip


class StatementRemover(Operator):
    """A statement that does something is not there."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        """Where one stands inside a function."""
        if _does_something(node):
            yield node.start_pos, node.children[0].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """`pass` in its place."""
        assert index == 0
        prefix = node.get_first_leaf().prefix
        node.children[0] = parso.python.tree.Name("pass", node.start_pos, prefix)
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """For whoever reads the operator, as cosmic-ray's own have them."""
        before = "def add(self):\n    self.count += 1\n"
        return (Example(before, before.replace("self.count += 1", "pass")),)


class ConditionNegator(AddNot):
    """cosmic-ray's `not` before a condition, but where another operator says the same."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        """Where a condition stands that is more, or less, than one comparison."""
        place = 1 if isinstance(node, self.NODE_TYPES) else 2
        for position in super().mutation_positions(node):
            if node.children[place].type not in {"comparison", "not_test"}:
                yield position


class MembershipSwapper(Operator):
    """`in` becomes `not in`, and the other way round; a `for` keeps its own."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        """Where either stands."""
        for sign in _memberships(node):
            yield sign.start_pos, sign.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """The other one in its place."""
        sign = _memberships(node)[index]
        other = " in" if sign.type == "comp_op" else " not in"
        node.children[node.children.index(sign)] = parso.parse(other)
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """For whoever reads the operator, as cosmic-ray's own have them."""
        return (Example("x in y", "x not in y"), Example("x not in y", "x in y"))


def _memberships(node: Any) -> list[Any]:
    if node.type != "comparison":
        return []
    return [
        sign for sign in node.children[1::2] if sign.get_code().split() in (["in"], ["not", "in"])
    ]


def _does_something(node: Any) -> bool:
    if node.type != "simple_stmt" or parso.tree.search_ancestor(node, "funcdef") is None:
        return False
    first = node.children[0]
    if first.type == "expr_stmt":
        target, sign = first.children[0], first.children[1]
        is_annotated = sign.type == "annassign"
        is_added = not is_annotated and sign.value != "="
        return is_added or (target.type in {"atom_expr", "power"} and not is_annotated)
    return first.type in {"atom_expr", "power", "await_expr"}


def operators() -> list[tuple[str, Operator]]:
    """Each by its name, in a fixed order."""
    names = [
        *(
            f"ReplaceComparisonOperator_{one}_{other}"
            for one, others in COMPARISONS.items()
            for other in others
        ),
        *(f"ReplaceBinaryOperator_{one}_{other}" for one, other in ARITHMETIC.items()),
        *WHOLE,
    ]
    found = [(name, get_operator(f"core/{name}")()) for name in names]
    return [
        *found,
        ("ConditionNegator", ConditionNegator()),
        ("MembershipSwapper", MembershipSwapper()),
        ("StatementRemover", StatementRemover()),
    ]
