"""The conversation as readers see it.

View models and the reducer that builds them from the event log.
"""
