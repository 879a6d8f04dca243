"""The usage ledger.

What each model call cost, over all workspaces and server processes of a user.
"""
