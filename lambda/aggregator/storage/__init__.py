"""Storage: the one table, and the ledger's bucket."""
