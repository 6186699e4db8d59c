"""Programs that show what is claimed; their short forms are part of the tests."""
