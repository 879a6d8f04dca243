"""Tools for Word documents."""
