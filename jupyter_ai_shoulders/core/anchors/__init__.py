"""Finds the text or output a task thread is attached to after its cell changed."""
