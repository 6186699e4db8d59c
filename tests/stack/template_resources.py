"""Resources of a template, by what they are."""

from __future__ import annotations


def of_type(resources, resource_type):
    """Properties of every resource of one type, by logical id."""
    return {
        name: resource["Properties"]
        for name, resource in resources.items()
        if resource["Type"] == resource_type
    }
