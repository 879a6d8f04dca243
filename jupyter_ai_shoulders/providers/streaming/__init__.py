"""Turns streamed bytes and vendor fragments into parts, calls and whole replies."""
