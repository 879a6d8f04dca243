"""Stands in for the package of this name, which takes a second of processor time to be imported.

It builds 39 parsers then, in each process that loads ``jsonschema``: every server and every command
that a test starts. ``jsonschema`` works without it, and lacks one check that nothing here uses:
that of the format ``iri``. ``tests/conftest.py`` puts this folder on the path.
"""

raise ImportError("left out in tests: see tests/import_stubs")
