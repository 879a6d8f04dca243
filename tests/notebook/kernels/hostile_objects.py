"""Objects that report every call of their methods: our code may call none.

The text runs in the tests' process and in real kernels.
"""

from __future__ import annotations

HOSTILE = '''
import types
import numpy as np
import pandas as pd

touched = []
METHODS = (
    "getattribute getattr len repr str format bytes iter next contains getitem setitem eq ne lt "
    "hash bool int float index call dir sizeof reduce reduce_ex array array_interface length_hint "
    "array_function array_ufunc array_struct dataframe arrow_c_stream missing keys items"
).split()


armed = []
"""Empty while the objects are put into frames: pandas asks them what they are."""


def trap(name):
    def called(self, *args, **kwargs):
        if not armed and name == "getattribute":
            return object.__getattribute__(self, *args)
        if not armed:
            raise AttributeError(name)
        touched.append(name)
        raise SystemError("the user's code was called: " + name)

    return called


def lie(self):
    if armed:
        touched.append("__class__")
        return dict
    return type(self)


class Meta(type):
    def __getattribute__(cls, name):
        if not armed:
            return type.__getattribute__(cls, name)
        touched.append("Meta." + name)
        raise SystemError(name)

    __mro__ = property(trap("Meta.__mro__"))
    __dict__ = property(trap("Meta.__dict__"))
    __eq__ = trap("Meta.__eq__")
    __hash__ = type.__hash__
    __repr__ = trap("Meta.__repr__")
    __instancecheck__ = trap("Meta.__instancecheck__")
    __subclasscheck__ = trap("Meta.__subclasscheck__")
    __len__ = trap("Meta.__len__")


def body():
    methods = {"__" + name + "__": trap(name) for name in METHODS}
    names = ("shape", "dtype", "columns", "index", "_name", "values", "nbytes", "name", "__dict__")
    methods.update({name: property(trap(name)) for name in names})
    methods["__class__"] = property(lie)
    return methods


def hostile(*bases):
    methods = body()
    if any(issubclass(base, (str, int, float, bytes, tuple, frozenset)) for base in bases):
        methods["__hash__"] = bases[0].__hash__
    return type("Hostile" + "".join(base.__name__ for base in bases), bases, methods)


def made(base, *args):
    cls = hostile(base)
    value = base.__new__(cls, *args)
    if base in (dict, list, set):
        base.__init__(value, *args)
    return value


class Plain(metaclass=Meta):
    pass


plain = object.__new__(hostile(object))
with_meta = object.__new__(Plain)
a_dict = made(dict, {"key": 1})
a_list = made(list, [1, 2])
a_tuple = made(tuple, (1, 2))
a_set = made(set, {1})
a_text = made(str, "text")
an_int = made(int, 5)
a_float = made(float, 2.5)
some_bytes = made(bytes, b"1")
a_class = Plain
a_module = made(types.ModuleType, "a_module")
an_array = np.arange(3).view(hostile(np.ndarray))
a_frame = object.__new__(hostile(pd.DataFrame))
types.MethodType(object.__setattr__, a_frame)("_mgr", pd.DataFrame({"a": [1, 2]})._mgr)
holding = [plain, with_meta, a_dict, {"deep": [plain, {"deeper": with_meta}]}]
objects = np.empty(3, dtype=object)
objects[0], objects[1], objects[2] = plain, with_meta, a_float
series = pd.Series(objects)
frame = pd.DataFrame({"good": [1, 2, 3]})
frame["objects"] = series
frame_like = type("DataFrame", (), {"__module__": "pandas", **body()})
pretender = object.__new__(frame_like)
proxy = types.MappingProxyType({"a": 1})
touched.clear()
armed.append(True)
'''

NAMES = [
    "plain",
    "with_meta",
    "a_dict",
    "a_list",
    "a_tuple",
    "a_set",
    "a_text",
    "an_int",
    "a_float",
    "some_bytes",
    "an_array",
    "a_frame",
    "holding",
    "objects",
    "series",
    "frame",
    "pretender",
    "proxy",
]
