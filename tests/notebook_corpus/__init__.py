"""Notebook files as people and their tools write them, generated from fixed seeds.

Used by ``tests/notebook/formats/test_corpus_fidelity.py``; ``python -m tests.notebook_corpus``
counts them by kind, and writes them to a folder when one is named.
"""
