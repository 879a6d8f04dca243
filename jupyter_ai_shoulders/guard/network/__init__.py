"""Fetches of public web pages, with an address filter."""
