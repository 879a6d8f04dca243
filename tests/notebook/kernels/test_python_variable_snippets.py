"""The description of Python variables, in this process: what it includes and what it does not."""

from __future__ import annotations

import json
import string
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.notebook.kernels.variable_info import (
    NamespaceInfo,
    VariableInfo,
    short_text,
    variable_lines,
)
from jupyter_ai_shoulders.notebook.snippets.bundler import python_variables
from jupyter_ai_shoulders.wire.api.settings import DataValues
from tests.notebook.kernels.hostile_objects import HOSTILE, NAMES
from tests.support.case_selection import examples

LEVELS: tuple[DataValues, ...] = ("schema_only", "samples", "full")
SECRET = "VALUE-OF-THE-USER"


def looked_at(
    namespace: dict[Any, Any], level: DataValues = "schema_only", *names: str
) -> NamespaceInfo:
    """Evaluate the expression that kernels are sent, in the user's namespace."""
    before = dict(namespace)
    text = eval(python_variables(level, names), namespace)
    namespace.pop("__builtins__", None)
    before.pop("__builtins__", None)
    assert list(namespace) == list(before), "a name was left behind"
    return NamespaceInfo.model_validate_json(text)


def one(value: object, level: DataValues = "schema_only") -> VariableInfo:
    [variable] = looked_at({"it": value}, level, "it").variables
    assert variable.failed is None
    return variable


def texts(namespace: NamespaceInfo) -> str:
    return "\n".join([*variable_lines(namespace), namespace.model_dump_json()])


@pytest.fixture(scope="module")
def hostile() -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(HOSTILE, namespace)
    return namespace


@pytest.mark.parametrize("level", LEVELS)
def test_no_code_of_the_users_objects_is_called(hostile: dict[str, Any], level: DataValues) -> None:
    everything = looked_at(hostile, level)
    asked = looked_at(hostile, level, *NAMES)

    assert hostile["touched"] == []
    assert {variable.name for variable in asked.variables} == set(NAMES)
    assert [variable.failed for variable in (*everything.variables, *asked.variables)] == [
        None
    ] * len((*everything.variables, *asked.variables))
    found = {variable.name: variable for variable in asked.variables}
    assert found["a_dict"].size == 1
    assert found["an_array"].shape == (3,)
    assert found["frame"].shape == (3, 2)


def test_the_traps_of_the_test_are_armed(hostile: dict[str, Any]) -> None:
    with pytest.raises(SystemError, match="was called"):
        repr(hostile["a_list"])
    hostile["touched"].clear()


VALUES: list[tuple[object, dict[str, object]]] = [
    (3, {"type": "int"}),
    ("text", {"type": "str", "size": 4}),
    (b"123", {"type": "bytes", "size": 3}),
    ([1, 2, "a"], {"type": "list", "size": 3, "items": ("int", "str")}),
    ({"a": 1.5}, {"type": "dict", "size": 1, "keys": ("str",), "items": ("float",)}),
    ({1, 2}, {"type": "set", "size": 2, "items": ("int",)}),
    (np.zeros((2, 3)), {"type": "numpy.ndarray", "shape": (2, 3), "dtype": "float64", "bytes": 48}),
    (np.array([1.0, np.nan]), {"shape": (2,), "nulls": 1, "nulls_estimated": False}),
    (np.float64(1.5), {"type": "numpy.float64"}),
    (pd.Series([1, None], name="n"), {"label": "n", "dtype": "float64", "nulls": 1, "shape": (2,)}),
    (None, {"type": "NoneType"}),
]


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=map(str, range(len(VALUES))))
def test_values_are_told_by_their_shape(value: object, expected: dict[str, object]) -> None:
    found = one(value)
    assert {name: getattr(found, name) for name in expected} == expected
    assert (found.value, found.sample) == (None, None)


COLUMNS: dict[str, tuple[object, str, int | None]] = {
    "int": (np.array([1, 2, 3]), "int64", 0),
    "float": (np.array([1.0, np.nan, 3.0]), "float64", 1),
    "object": (pd.Series([1, None, SECRET], dtype=object), "object", 1),
    "category": (pd.Categorical([SECRET, None, "v"]), "category of 2", 1),
    "date": (pd.to_datetime(["2020-01-01", None, "2021-01-01"]), "datetime64[us]", 1),
    "zone": (pd.date_range("2020", periods=3, tz="Europe/Berlin"), "", 0),
    "nullable": (pd.array([1, None, 3], dtype="Int64"), "Int64", 1),
    "flag": (pd.array([True, None, False], dtype="boolean"), "boolean", 1),
    "text": (pd.array([SECRET, None, "b"], dtype="string"), "string", 1),
    "sparse": (pd.arrays.SparseArray([0, 0, 1]), "SparseDtype", None),
    "period": (pd.period_range("2020", periods=3, freq="D"), "period[D]", None),
    "interval": (pd.interval_range(0, 3), "interval[int64, right]", None),
    "duration": (pd.to_timedelta([1, None, 2], unit="s"), "", 1),
}


def test_the_columns_of_a_frame_are_told_with_what_is_missing() -> None:
    frame = pd.DataFrame({name: values for name, (values, _, _) in COLUMNS.items()})
    found = one(frame)
    assert found.shape == (3, len(COLUMNS))
    assert found.columns_total == len(COLUMNS)
    told = {column.name: column for column in found.columns}
    for name, (_, dtype, nulls) in COLUMNS.items():
        assert not dtype or (told[name].dtype or "").startswith(dtype.partition("[")[0]), name
        if nulls is not None:
            assert (told[name].nulls, told[name].nulls_estimated) == (nulls, False), name
    assert SECRET not in json.dumps(found.model_dump(mode="json"))


class Frame(pd.DataFrame):
    """A subclass, like geopandas's."""

    @property
    def columns(self) -> Any:
        raise SystemError("the user's code was called")

    @property
    def shape(self) -> Any:
        raise SystemError("the user's code was called")


def test_a_subclass_of_a_frame_is_looked_into_past_its_own_code() -> None:
    found = one(Frame({"a": [1, 2]}))
    assert found.type.endswith(".Frame")
    assert found.shape == (2, 1)
    assert [column.name for column in found.columns] == ["a"]


def test_a_long_column_is_counted_or_estimated_close_to_the_truth() -> None:
    size = 400_000
    repeating = pd.Series([1, None, "a", 2.5] * (size // 4), dtype=object)
    numbers = pd.Series(np.where(np.arange(size) % 5 == 0, np.nan, 1.0))
    estimated, counted = one(repeating), one(numbers)
    assert estimated.nulls_estimated
    assert estimated.nulls == pytest.approx(size / 4, rel=0.1)
    assert (counted.nulls, counted.nulls_estimated) == (size // 5, False)


NAMES_OF_COLUMNS: list[tuple[object, str]] = [
    ("plain", "plain"),
    (7, "7"),
    (1.5, "1.5"),
    (None, "None"),
    (("a", 1), "a / 1"),
    (np.int64(3), "3"),
    (pd.Timestamp("2020"), "<pandas.Timestamp>"),
    ("x" * 1_000, "x" * 120),
]


@pytest.mark.parametrize(
    ("name", "told"), NAMES_OF_COLUMNS, ids=[t[:9] for _, t in NAMES_OF_COLUMNS]
)
def test_columns_of_any_name_are_named(name: object, told: str) -> None:
    frame = pd.DataFrame([[1]])
    frame.columns = pd.Index([name], dtype=object, tupleize_cols=False)
    [column] = one(frame).columns
    assert column.name == told


def test_a_frame_of_many_columns_or_blocks_is_cut() -> None:
    wide = pd.DataFrame(np.zeros((1, 3_000)))
    [brief] = looked_at({"wide": wide}).variables
    scattered = pd.concat([pd.Series([at], name=str(at)) for at in range(2_500)], axis=1)
    loose = one(
        pd.DataFrame({name: scattered[name].copy() for name in map(str, range(2_500))}, copy=False)
    )
    assert (len(brief.columns), brief.columns_total) == (60, 3_000)
    assert len(one(wide).columns) == 400
    assert loose.columns_total == 2_500
    assert len(loose.columns) == 400


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(50_000):
        nested = [nested]
    return nested


def around() -> list[Any]:
    ring: list[Any] = []
    ring.append(ring)
    return ring


HUGE: dict[str, Any] = {
    "nested": deep,
    "ring": around,
    "number": lambda: 10**200_000,
    "text": lambda: "x" * 5_000_000,
    "items": lambda: list(range(2_000_000)),
    "table": lambda: dict.fromkeys(range(1_000_000)),
    "array": lambda: np.zeros(20_000_000, dtype=np.int8),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("make", HUGE.values(), ids=HUGE)
def test_huge_things_are_told_in_few_words(make: Any, level: DataValues) -> None:
    namespace = looked_at({"it": make()}, level)
    assert len(texts(namespace)) < 12_000


def test_many_variables_are_named_where_there_is_no_room_for_more() -> None:
    namespace = looked_at({f"name_{at:05}": at for at in range(1_500)})
    assert len(namespace.variables) == 300
    assert (namespace.total, len(namespace.more), namespace.unlisted) == (1_000, 700, 500)
    assert len(short_text(namespace, 2_000)) <= 2_100
    assert "more" in short_text(namespace, 2_000)


def test_names_are_sorted_by_what_they_stand_for_and_hidden_ones_left_out() -> None:
    def function() -> None: ...

    found = looked_at(
        {
            "x": 1,
            "function": function,
            "Class": NamespaceInfo,
            "np": np,
            "_private": 1,
            "In": [],
            "Out": {},
            "exit": object(),
            3: "no name",
        }
    )
    assert [variable.name for variable in found.variables] == ["x"]
    assert (found.functions, found.classes) == (("function",), ("Class",))
    assert found.modules == (("np", "numpy"),)


def test_the_attributes_of_an_object_are_told_when_it_is_asked_for() -> None:
    class Model:
        def __init__(self) -> None:
            self.rate = 0.5
            self.name = SECRET
            self._hidden = 1

    found = one(Model())
    assert found.attributes == (("rate", "float"), ("name", "str"))
    assert SECRET not in found.model_dump_json()


@pytest.mark.parametrize("level", ["samples", "full"])
def test_values_of_secrets_are_never_told(level: DataValues) -> None:
    frame = pd.DataFrame({"user": ["anna"], "password": [SECRET]})
    found = looked_at({"api_key": SECRET, "MY_TOKEN": [SECRET], "frame": frame}, level)
    assert SECRET not in texts(found)
    assert "anna" in texts(found)
    assert [variable.hidden for variable in found.variables] == [True, True, False]


def test_samples_are_few_and_full_is_more() -> None:
    frame = pd.DataFrame({"n": range(100)})
    few, more = one(frame, "samples"), one(frame, "full")
    assert few.columns[0].sample == ("0", "1", "2")
    assert len(more.columns[0].sample or ()) == 20
    assert one("x" * 500, "samples").value == repr("x" * 60) + " …"
    assert one({"a": [1, {"b": 2}]}, "samples").value == "{'a': <list of 2>}"
    assert one({"a": [1, {"b": 2}]}, "full").value == "{'a': [1, {'b': 2}]}"


ALIEN = """
import datetime as dt
import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype

touched = []


def noted(name, answer):
    def method(self, *args, **kwargs):
        touched.append(name)
        return answer(self, *args, **kwargs)

    return method


class Zone(dt.tzinfo):
    utcoffset = noted("utcoffset", lambda self, when: dt.timedelta(0))
    dst = noted("dst", lambda self, when: None)
    tzname = noted("tzname", lambda self, when: "evil")
    __str__ = __repr__ = noted("zone text", lambda self: "evil")


class Kind(ExtensionDtype):
    name, type = "evil", int
    construct_array_type = classmethod(lambda cls: Array)
    __str__ = noted("dtype text", lambda self: "evil")


class Array(ExtensionArray):
    def __init__(self, values):
        self.held = np.array(values)

    dtype = property(noted("dtype", lambda self: Kind()))
    nbytes = property(noted("nbytes", lambda self: 3))
    __len__ = noted("len", lambda self: len(self.held))
    __getitem__ = noted("item", lambda self, at: self.held[at])
    isna = noted("isna", lambda self: self.held == 0)
    copy = noted("copy", lambda self: Array(self.held))
    _from_sequence = classmethod(lambda cls, values, **kwargs: cls(values))


own = pd.Series(Array([1, 2, 3]))
frame = pd.DataFrame({"own": own, "plain": [1, 2, 3]})
moment = dt.datetime(2020, 1, 1, tzinfo=Zone())
moments = [moment, dt.time(1, tzinfo=Zone())]
column = pd.Series([moment, None], dtype=object)
touched.clear()
"""


@pytest.mark.parametrize("level", LEVELS)
def test_the_users_own_column_types_and_time_zones_are_not_called(level: DataValues) -> None:
    namespace: dict[str, Any] = {}
    exec(ALIEN, namespace)
    found = {each.name: each for each in looked_at(namespace, level).variables}
    assert namespace["touched"] == []
    assert [column.dtype for column in found["frame"].columns] == ["Array", "int64"]
    assert found["column"].nulls == 1


# any namespace

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.binary(max_size=20)
    | st.text(max_size=20)
    | st.dates()
    | st.datetimes()
    | st.decimals()
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=5)
        | st.tuples(inner, inner)
    ),
    max_leaves=20,
)
names = st.text(string.ascii_letters, min_size=1, max_size=8) | st.text(min_size=1, max_size=8)


@settings(max_examples=examples(150, 40), deadline=None)
@given(
    namespace=st.dictionaries(names, values | st.builds(pd.Series, st.lists(scalars, max_size=5))),
    level=st.sampled_from(LEVELS),
)
def test_any_namespace_is_told(namespace: dict[str, Any], level: DataValues) -> None:
    expected = sum(not name.startswith("_") for name in namespace if name not in {"In", "Out"})
    found = looked_at(namespace, level)
    hidden = {"In", "Out", "exit", "quit", "get_ipython"} & namespace.keys()
    assert found.total == expected - len(hidden - {"In", "Out"})
    assert [variable.failed for variable in found.variables] == [None] * found.total
    assert all("\n" not in line for line in variable_lines(found))


marked = st.recursive(
    st.text(max_size=5).map(lambda text: SECRET + text) | st.just(SECRET.encode()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.just(SECRET), inner, max_size=2)
        | st.lists(inner, min_size=1, max_size=3).map(lambda items: pd.Series(items, dtype=object))
        | st.lists(st.just(SECRET), min_size=1, max_size=3).map(pd.Categorical)
        | st.lists(st.just(SECRET), min_size=1, max_size=3).map(np.array)
        | st.lists(inner, min_size=1, max_size=3).map(lambda items: pd.DataFrame({"c": items}))
    ),
    max_leaves=8,
)


@settings(max_examples=examples(150, 40), deadline=None)
@given(namespace=st.dictionaries(st.sampled_from("abcdef"), marked), asked=st.booleans())
def test_no_value_leaves_under_schema_only(namespace: dict[str, Any], asked: bool) -> None:
    found = looked_at(namespace, "schema_only", *(namespace if asked else ()))
    assert SECRET not in texts(found)
    assert SECRET not in short_text(found, 10_000)
