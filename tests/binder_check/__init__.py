"""Executes the files of ``binder/`` in an empty environment: ``python -m tests.binder_check``."""
