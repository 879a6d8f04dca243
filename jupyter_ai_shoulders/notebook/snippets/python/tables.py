"""Frames, series, arrays and tensors of the known libraries: shapes, columns, types, sizes.

Runs in the kernel, as part of the description of its variables. Methods of a library's class are
called only on genuine instances, never on those of a subclass.
"""

from __future__ import annotations

from typing import Any

from jupyter_ai_shoulders.notebook.snippets.python.missing import array_nulls, nulls
from jupyter_ai_shoulders.notebook.snippets.python.objects import (
    class_dict,
    derives,
    entry,
    genuine,
    kind_of,
    label,
    library,
    of_package,
    plain,
    qualname_of,
    text,
    type_name,
)
from jupyter_ai_shoulders.notebook.snippets.python.values import Budget, is_secret, shown

MAX_BLOCKS = 2_000
"""Limit of a frame's memory blocks: more take too long to examine."""


def dtype_text(dtype: Any) -> str:
    """Return the name of a numpy or pandas type, without any data it contains."""
    if derives(dtype, library("numpy", "dtype")):  # Python cannot subclass it
        names = dtype.names
        return text(str(dtype), 80) if names is None else "structured: " + ", ".join(names[:20])
    name = plain(qualname_of(kind_of(dtype)), 60) or "?"
    if not of_package(dtype, "pandas"):
        return name
    if name == "CategoricalDtype":
        return "category" if dtype.categories is None else f"category of {len(dtype.categories)}"
    if name == "DatetimeTZDtype":
        zone = of_package(dtype.tz, "datetime", "zoneinfo", "pytz", "dateutil")
        return text(str(dtype), 80) if zone else "datetime64[" + dtype.unit + ", with zone]"
    if name == "ArrowDtype":
        return arrow_type(dtype.pyarrow_dtype)
    return text(str(dtype), 80) if name.endswith("Dtype") and name != "SparseDtype" else name


def arrow_type(kind: Any) -> str:
    return text(str(kind), 80) if of_package(kind, "pyarrow") else "?"


def column(name: Any, values: Any, budget: Budget) -> dict[str, Any]:
    """Return one column of a frame."""
    told: dict[str, Any] = {"name": label(name)}
    if not of_package(values, "numpy", "pandas"):
        return {**told, "dtype": type_name(values)}
    told["dtype"] = dtype_text(values.dtype)
    told.update(nulls(values, budget))
    if budget.count and not is_secret(told["name"]):
        told["sample"] = [shown(item, budget, 0) for item in first_values(values, budget)]
    return told


def first_values(values: Any, budget: Budget) -> Any:
    some = values[: budget.count]
    return some.tolist() if genuine(some) == "numpy.ndarray" else list(some)


def frame(value: Any, budget: Budget) -> dict[str, Any]:
    manager = entry(value, "_mgr")
    if genuine(manager) != "pandas.BlockManager":
        return {}
    names, index = manager.axes
    told: dict[str, Any] = {
        "shape": [index_size(index), index_size(names)],
        "index": index_text(index),
    }
    if len(manager.blocks) <= MAX_BLOCKS:
        told["bytes"] = sum(size_of(block.values) for block in manager.blocks)
    if of_package(names, "pandas"):
        told["columns_total"] = len(names)
        told["columns"] = list(frame_columns(manager, names, budget))
    return told


def frame_columns(manager: Any, names: Any, budget: Budget) -> Any:
    blocks = manager.blocks
    if len(blocks) > MAX_BLOCKS:
        yield from ({"name": label(name)} for name in names[: budget.columns])
        return
    numbers, places = manager.blknos, manager.blklocs
    for at, name in enumerate(names[: budget.columns]):
        if budget.is_over():
            return
        values = blocks[int(numbers[at])].values
        if genuine(values) in ("numpy.ndarray", "pandas.DatetimeArray", "pandas.TimedeltaArray"):
            values = values[int(places[at])] if values.ndim == 2 else values
        yield column(name, values, budget)


def series(value: Any, budget: Budget) -> dict[str, Any]:
    manager = entry(value, "_mgr")
    if genuine(manager) != "pandas.SingleBlockManager":
        return {}
    values = manager.blocks[0].values
    told = column(entry(value, "_name"), values, budget)
    if told["name"] == "None":
        del told["name"]
    else:
        told["label"] = told.pop("name")
    index = manager.axes[0]
    return {
        **told,
        "shape": [index_size(index)],
        "bytes": size_of(values),
        "index": index_text(index),
    }


def index_size(index: Any) -> int | None:
    return len(index) if of_package(index, "pandas") else None


def index_text(index: Any) -> str:
    if not of_package(index, "pandas"):
        return type_name(index)
    names = [label(name) for name in list(index.names)[:6] if name is not None]
    return kind_of(index).__name__ + (" " + ", ".join(names) if names else "")


def size_of(values: Any) -> int:
    if not of_package(values, "numpy", "pandas"):
        return 0
    return int(values.nbytes)


def array(value: Any, budget: Budget) -> dict[str, Any]:
    numpy = library("numpy", "ndarray")
    dtype = class_dict(numpy)["dtype"].__get__(value)
    told: dict[str, Any] = {
        "shape": list(class_dict(numpy)["shape"].__get__(value)),
        "dtype": dtype_text(dtype),
        "bytes": class_dict(numpy)["nbytes"].__get__(value),
    }
    if genuine(value) == "numpy.ndarray":
        if told["shape"] and len(told["shape"]) == 1:
            told.update(array_nulls(value, budget))
        if budget.count:
            told["sample"] = [
                shown(item, budget, 0) for item in value.flat[: budget.count].tolist()
            ]
    return told


def tensor(value: Any, budget: Budget) -> dict[str, Any]:
    del budget
    return {
        "shape": [int(size) for size in value.shape],
        "dtype": str(value.dtype),
        "device": str(value.device),
    }


def polars_frame(value: Any, budget: Budget) -> dict[str, Any]:
    rows, width = value.shape
    missing, dtypes = value.null_count().row(0), value.dtypes
    columns: list[dict[str, Any]] = []
    for at, name in enumerate(value.columns[: budget.columns]):
        told = {"name": label(name), "dtype": polars_type(dtypes[at]), "nulls": missing[at]}
        if budget.count and not is_secret(name):
            told["sample"] = [
                shown(item, budget, 0)
                for item in value.get_column(name).head(budget.count).to_list()
            ]
        columns.append(told)
    return {
        "shape": [rows, width],
        "bytes": int(value.estimated_size()),
        "columns": columns,
        "columns_total": width,
    }


def polars_series(value: Any, budget: Budget) -> dict[str, Any]:
    told: dict[str, Any] = {
        "label": label(value.name),
        "shape": [len(value)],
        "dtype": polars_type(value.dtype),
        "nulls": value.null_count(),
    }
    if budget.count:
        told["sample"] = [shown(item, budget, 0) for item in value.head(budget.count).to_list()]
    return told


def polars_type(dtype: Any) -> str:
    """Return a type's name; ``Enum`` would include its categories, which are data."""
    name = kind_of(dtype).__name__ if of_package(kind_of(dtype), "polars") else None
    found = genuine(dtype)
    if found is None:
        return name or "?"
    name = found.partition(".")[2]
    inner = getattr(dtype, "inner", None)
    if name in ("List", "Array") and inner is not None:
        return name + "[" + polars_type(inner) + "]"
    return text(str(dtype), 80) if name in ("Datetime", "Duration", "Decimal") else name


def arrow_table(value: Any, budget: Budget) -> dict[str, Any]:
    schema = value.schema
    names = schema.names[: budget.columns]
    columns: list[dict[str, Any]] = []
    for at, name in enumerate(names):
        held = value.column(at)
        kind = schema.types[at]
        told = {"name": label(name), "dtype": arrow_type(kind), "nulls": held.null_count}
        is_plain = of_package(kind, "pyarrow") and kind.num_fields == 0
        if budget.count and is_plain and not is_secret(name):
            told["sample"] = [shown(item.as_py(), budget, 0) for item in held[: budget.count]]
        columns.append(told)
    return {
        "shape": [value.num_rows, value.num_columns],
        "bytes": int(value.nbytes),
        "columns": columns,
        "columns_total": value.num_columns,
    }


EXACT = {
    "polars.DataFrame": polars_frame,
    "polars.Series": polars_series,
    "pyarrow.Table": arrow_table,
    "pyarrow.RecordBatch": arrow_table,
    "torch.Tensor": tensor,
    "torch.Parameter": tensor,
}
"""Types whose library methods a subclass may have replaced: exact class only."""

INHERITED = (
    (("pandas", "DataFrame"), frame),
    (("pandas", "Series"), series),
    (("numpy", "ndarray"), array),
)
"""Types that can be examined regardless of subclasses."""
