"""The model catalogue: providers, models and prices, merged from the shipped list and the user's
files.
"""
