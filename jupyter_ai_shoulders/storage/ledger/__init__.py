"""The usage ledger: the cost of each model call, over all workspaces and server processes of a
user.
"""
