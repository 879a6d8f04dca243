"""Assembles streamed bytes and vendor fragments into parts, calls and replies."""
