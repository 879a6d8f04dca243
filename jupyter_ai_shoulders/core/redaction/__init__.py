"""Finds secrets in text and replaces them: configured keys, key patterns and private key blocks."""
