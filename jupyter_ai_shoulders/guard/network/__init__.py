"""Fetches of public web pages, with a filter of addresses."""
