"""Registers of publications: what they know about a work, in one form."""
