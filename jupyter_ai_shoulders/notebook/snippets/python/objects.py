"""Classes and names of objects whose own code may be slow, lie or raise: it is never called.

Runs in the kernel, as part of the description of its variables.
"""

from __future__ import annotations

import sys
import types
from typing import Any

NAME_LENGTH = 120
KNOWN = frozenset({"numpy", "pandas", "polars", "pyarrow", "torch"})
NoneType: Any = type(None)
kind_of: Any = type
"""``type`` of one object: its real class, where ``isinstance`` would ask the object."""

mro = type.__dict__["__mro__"].__get__
class_dict = type.__dict__["__dict__"].__get__
module_of = type.__dict__["__module__"].__get__
qualname_of = type.__dict__["__qualname__"].__get__
_module_type: Any = types.ModuleType
module_dict: Any = type.__dict__["__dict__"].__get__(_module_type)["__dict__"].__get__


def bases(value: Any) -> Any:
    """Return the real base classes of a value, nearest first."""
    return mro(kind_of(value))


def is_any(kind: Any, *kinds: Any) -> bool:
    """Return whether a class is one of these; ``in`` would call its metaclass."""
    return any(kind is other for other in kinds)


def derives(value: Any, cls: Any) -> bool:
    return cls is not None and any(base is cls for base in bases(value))


def library(module: str, name: str) -> Any:
    """Return an object of an imported module by name, or None."""
    held: Any = dict
    home = held.get(sys.modules, module)
    return held.get(module_dict(home), name) if kind_of(home) is types.ModuleType else None


def home_of(cls: Any) -> Any:
    """Return the name of a class's module, None for a class without one."""
    try:
        return module_of(cls)
    except AttributeError:
        return None


def genuine(value: Any) -> str | None:
    """Return the package and class name of a value whose class is genuine."""
    cls: Any = kind_of(value)
    module, name = home_of(cls), qualname_of(cls)
    if kind_of(module) is not str or kind_of(name) is not str or library(module, name) is not cls:
        return None
    return module.partition(".")[0] + "." + name


def of_package(value: Any, *packages: str) -> bool:
    found = genuine(value)
    return found is not None and found.partition(".")[0] in packages


def type_name(value: Any) -> str:
    """Return the usual name of a class, or its module and name."""
    known = genuine(value)
    if known is not None and known.partition(".")[0] in KNOWN:
        return known
    cls: Any = kind_of(value)
    module, name = home_of(cls), plain(qualname_of(cls), NAME_LENGTH) or "?"
    if kind_of(module) is not str or module in ("builtins", "__main__"):
        return name
    return text(module, NAME_LENGTH) + "." + name


def instance_dict(value: Any) -> Any:
    """Return an object's own dict, unless its class overrides ``__dict__``."""
    for base in bases(value):
        found = class_dict(base).get("__dict__")
        if found is not None:
            is_own = kind_of(found) is types.GetSetDescriptorType and found.__objclass__ is base
            return found.__get__(value) if is_own else None
    return None


def entry(value: Any, name: str) -> Any:
    """Return a value of an object's own dict."""
    own = instance_dict(value)
    if kind_of(own) is not dict:
        return None
    table: Any = dict
    return next(
        (held for key, held in table.items(own) if kind_of(key) is str and key == name), None
    )


def text(value: Any, limit: int) -> str:
    """Return the beginning of a string as an exact ``str``."""
    return str.__getitem__(value, slice(limit))


def plain(value: Any, limit: int) -> str | None:
    return text(value, limit) if derives(value, str) else None


def label(value: Any) -> str:
    """Return a column's or index's name; a name that is no plain type is replaced by its type."""
    if derives(value, str):
        return text(value, NAME_LENGTH)
    if kind_of(value) is tuple:
        return text(" / ".join(label(part) for part in value[:6]), NAME_LENGTH)
    if kind_of(value) is int and int.bit_length(value) > 200:
        return "<int>"
    if is_any(kind_of(value), int, float, bool, NoneType):
        return repr(value)
    if of_package(value, "numpy") and derives(value, library("numpy", "generic")):
        item: Any = value.item()
        if is_any(kind_of(item), int, float, bool, str):
            return label(item)
    return "<" + type_name(value) + ">"
