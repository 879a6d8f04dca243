"""Describes the variables of a Python kernel; these modules' source is joined and runs there.

``notebook.kernels.variables`` sends them. The user's objects may be slow, lie or raise, so none of
their code is called: no ``repr``, ``len``, ``isinstance`` (it uses ``__class__``) and no attribute,
only ``type``, the C functions of built-in types, and the libraries named in ``tables`` for genuine
instances of their classes. Values are read at the levels ``samples`` and ``full`` only. The cost is
bounded by counts, then by time. Runs on Python 3.7 and later with the standard library alone.
"""
