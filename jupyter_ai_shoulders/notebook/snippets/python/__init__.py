"""The look at the variables of a Python kernel: these modules' source runs there, joined.

``notebook.kernels.variables`` sends them. The user's objects may be slow, lie or raise, so none of
their code is called: no ``repr``, ``len``, ``isinstance`` (it asks ``__class__``) and no attribute,
only ``type``, the C functions of built-in types, and the libraries named in ``tables`` where a
class is found to be theirs. Values are read at the levels ``samples`` and ``full`` only. The cost
is bounded by counts, then by time. Runs on Python 3.7 and later with the standard library alone.
"""
