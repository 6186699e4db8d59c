"""
The monthly cost of a described fleet, not of an existing one.

It needs no account, no network and no boto3. The table in docs/explanation/cost.md is the same bill
(`docs/generate/bills.py`).
"""
