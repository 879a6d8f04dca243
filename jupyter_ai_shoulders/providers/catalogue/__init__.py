"""Loads, discovers, selects and presents the models of the catalogue."""
