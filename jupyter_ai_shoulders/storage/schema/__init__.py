"""Tables of the state database.

Migrations, rows of events, and session rows derived from events.
"""
