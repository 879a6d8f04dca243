"""The small process that starts one command, watches all it becomes, and ends it (chapter 07).

Standard library only: ``guard.process.launcher`` runs it as ``python -I -S``, so that it starts in
a few milliseconds and nothing of the server's is in it.
"""
