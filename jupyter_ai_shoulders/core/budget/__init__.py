"""Spending limits: the cost of a call, the limit that stops it, and the account it is booked to."""
