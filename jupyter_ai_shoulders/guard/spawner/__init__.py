"""The small process that starts one command, watches its descendants, and ends them.

Standard library only: ``guard.process.launcher`` runs it as ``python -I -S``, so that it starts in
a few milliseconds and inherits nothing from the server.
"""
