"""Cell outputs.

Collects them within bounds, compares them, and turns them into text for a model.
"""
