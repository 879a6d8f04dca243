"""Spending limits: what a call may cost, which limit stops it, and who it is booked to."""
