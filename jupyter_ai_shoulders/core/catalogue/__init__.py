"""The model catalogue.

Providers, models and prices, merged from the shipped list and the user's files.
"""
