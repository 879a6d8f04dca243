"""Notebook files as people and their tools write them, made anew each time from fixed seeds.

Used by ``tests/notebook/test_corpus.py``; ``python -m tests.corpus`` counts them by kind, and
writes them to a folder when one is named.
"""
