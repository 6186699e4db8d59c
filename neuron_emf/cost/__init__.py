"""
What a month costs: of a fleet that is described, not of one that is looked at.

It needs no account, no network and no boto3. The table of docs/explanation/cost.md
is the same bill (`docs/generate/bills.py`).
"""
