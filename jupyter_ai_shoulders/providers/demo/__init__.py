"""The demo provider: answers by rules, without a model; for a first start and for tests without a
key.
"""
