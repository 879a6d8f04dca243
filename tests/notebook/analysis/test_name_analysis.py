"""The names a cell binds, changes and needs: tables, and small programs that are executed."""

from __future__ import annotations

import builtins
import dis
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.notebook.analysis.name_analysis import UNKNOWN, CellNames, cell_names

NAMES = ("a", "b", "c", "d")


def words(text: str) -> set[str]:
    """Return names written with spaces between."""
    return set(text.split())


@pytest.mark.parametrize(
    ("source", "uses", "defines", "changes"),
    [
        pytest.param("x = 1\ny = x + z", "z", "x y", "", id="order"),
        pytest.param("x += y", "x y", "", "x", id="augmented"),
        pytest.param("df['a'].b[0] = v", "df v", "", "df", id="part"),
        pytest.param("df.a, (b, *c) = v", "df v", "b c", "df", id="unpacked"),
        pytest.param("del x, df['a']", "x df", "", "x df", id="del"),
        pytest.param("x = 1\ndel x", "", "", "x", id="its-own-name-deleted"),
        pytest.param("[i for i in r if i in k for j in i]", "r k", "", "", id="comprehension"),
        pytest.param("{k: v for k, v in d.items()}", "d", "", "", id="dict-comprehension"),
        pytest.param("i = 0\n[i for _ in i]", "", "i", "", id="first-source-outside"),
        pytest.param("any((y := i) for i in r)\nprint(y)", "r y any print", "y", "", id="walrus"),
        pytest.param("if t:\n    x = 1\nprint(x)", "t x print", "x", "", id="one-branch"),
        pytest.param(
            "if t:\n    x = 1\nelse:\n    x = 2\nprint(x)", "t print", "x", "", id="two-branches"
        ),
        pytest.param("for i in r:\n    s = i\nprint(s)", "r s print", "i s", "", id="loop"),
        pytest.param(
            "try:\n    x = f()\nexcept E as e:\n    print(e)\nprint(x)",
            "f E print x",
            "x",
            "",
            id="try",
        ),
        pytest.param("with o() as f, f.g() as g:\n    g(f)", "o", "f g", "", id="with"),
        pytest.param("import a.b, c.d as e\nfrom . import f as g", "", "a e g", "", id="imports"),
        pytest.param("def f(p, q=r): return p + s", "r", "f", "", id="function-not-called"),
        pytest.param("def f(p): return p + s\nf(1)", "s", "f", "", id="function-called"),
        pytest.param("def f():\n    global g\n    g = 1", "", "f g", "", id="global"),
        pytest.param("d.map(lambda v: v + k)", "d k", "", "", id="lambda"),
        pytest.param(
            "class A(B):\n    q = t\n    r = q\n    def m(self): return q",
            "B t",
            "A",
            "",
            id="class",
        ),
        pytest.param(
            "match v:\n    case [x, *y] if z: print(x, y)\n    case {'k': P(a=w), **o}: pass",
            "v z print P",
            "x y w o",
            "",
            id="match",
        ),
        pytest.param("x: T = v\ny: U", "v T U", "x", "", id="annotated"),
        pytest.param("await f(x)", "f x", "", "", id="await"),
        pytest.param("f'{x!r:{w}}'", "x w", "", "", id="f-string"),
        pytest.param("'\\d'", "", "", "", id="invalid-escape"),
        pytest.param("x = 1if y else 2", "y", "x", "", id="keyword-behind-a-number"),
        pytest.param("%matplotlib inline\nx = 1", "", "x", "", id="line-magic"),
        pytest.param("x = !ls\ny = %who_ls", "", "x y", "", id="assigned-magic"),
        pytest.param("%time x = f(y)", "f y", "x", "", id="time"),
        pytest.param("if a:\n    !ls \\\n  -l\n    x = 1", "a", "x", "", id="shell-in-a-block"),
        pytest.param("df?\n?df\nx = 1 if a else b", "a b", "x", "", id="help"),
        pytest.param("s = '''\n%no\n!no\n'''", "", "s", "", id="no-magic-in-a-string"),
        pytest.param("x = a %b\ny = a != b", "a b", "x y", "", id="operators"),
        pytest.param("%%bash\nx=1\necho $y", "", "", "", id="another-language"),
        pytest.param("%%writefile a.py\nx = 1", "", "", "", id="a-file"),
        pytest.param("%%time\nx = y", "y", "x", "", id="cell-time"),
        pytest.param("%%timeit -n 3 a = b\nc = a + d", "b d", "", "", id="timeit"),
        pytest.param("%%capture out\nx = 1", "", "x out", "", id="capture"),
        pytest.param("%%script sh --out log\nls", "", "log", "", id="script-output"),
        pytest.param("\n# note\n", "", "", "", id="comment"),
    ],
)
def test_names_of_a_cell(source: str, uses: str, defines: str, changes: str) -> None:
    names = cell_names(source)
    assert (names.uses, names.defines, names.changes) == (
        words(uses),
        words(defines),
        words(changes),
    )
    assert names.known
    assert not names.opaque


@pytest.mark.parametrize(
    "source",
    ["from m import *", "exec(code)", "globals()['x'] = 1", "%run other.py", "%pylab", "%store -r"],
)
def test_cell_is_opaque_when_nobody_sees_what_it_binds(source: str) -> None:
    assert cell_names(source).opaque


@pytest.mark.parametrize("source", ["if (", "pip install x", "a\0b", "(" * 500])
def test_cell_is_unknown_when_it_does_not_parse(source: str) -> None:
    assert cell_names(source) == UNKNOWN


def test_functions_say_what_their_calls_need() -> None:
    source = (
        "def f(a):\n    import os\n    b = [x for x in a if x > low]\n"
        "    def g(): return b, deep\n    return g\n"
        "k = lambda v: v * factor\n"
        "class C:\n    def m(self):\n        try: pass\n        except E as e: return e\n"
    )
    names = cell_names(source)
    assert names.calls_need == {
        "f": {"low", "deep"},
        "k": {"factor"},
        "C": {"E"},
    }


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("q = [b for p in 'xy']", id="comprehension"),
        pytest.param("class D: q = b", id="nested-class"),
        pytest.param("q = b", id="read-before"),
    ],
)
def test_class_in_a_function_needs_a_name_it_binds_later(body: str) -> None:
    source = f"def f():\n    class C:\n        {body}\n        b = 1\n"
    assert cell_names(source).calls_need == {"f": {"b"}}


def test_only_imports_and_plain_functions_are_fixed() -> None:
    source = "import a\ndef f(): pass\ndef g(x=1): pass\n@d\ndef h(): pass\nimport b\nb = 2"
    assert set(cell_names(source).fixed) == {"a", "f"}
    again = cell_names("# other text\nimport a\n\ndef f():\n    pass")
    assert again.fixed == {k: v for k, v in cell_names(source).fixed.items() if k in {"a", "f"}}


def test_shell_lines_mention_names() -> None:
    assert cell_names("!cp {src} $dst").mentions == {"src", "dst"}
    assert "work" in cell_names("%timeit work(1)").mentions


# Small executed programs: the names they read before binding them, and those they bind.

expressions = st.recursive(
    st.sampled_from([*NAMES, "1", "0"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: f"({p[0]} or {p[1]})"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
        st.tuples(st.sampled_from(NAMES), inner, inner).map(
            lambda p: f"[{p[1]} for {p[0]} in (0, {p[2]})]"
        ),
        st.tuples(st.sampled_from(NAMES), inner).map(lambda p: f"({p[0]} := {p[1]})"),
        st.tuples(st.sampled_from(NAMES), inner).map(lambda p: f"(lambda {p[0]}: {p[1]})(0)"),
    ),
    max_leaves=4,
)


def indented(block: str) -> str:
    """Return a block one level deeper."""
    return "\n".join(f"    {line}" for line in block.split("\n"))


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return statements around blocks."""
    block = st.lists(inner, min_size=1, max_size=3).map("\n".join).map(indented)
    name = st.sampled_from(NAMES)
    return st.one_of(
        st.tuples(expressions, block, block).map(lambda p: f"if {p[0]}:\n{p[1]}\nelse:\n{p[2]}"),
        st.tuples(name, expressions, block).map(lambda p: f"for {p[0]} in (0, {p[1]}):\n{p[2]}"),
        st.tuples(block, block, block).map(
            lambda p: (
                f"try:\n{p[0]}\n    1 / 0\nexcept ZeroDivisionError:\n{p[1]}\nfinally:\n{p[2]}"
            )
        ),
        st.tuples(name, name, block).map(
            lambda p: f"def {p[0]}({p[1]}):\n{p[2]}\n    return 0\n{p[0]}(1)"
        ),
        st.tuples(name, block).map(lambda p: f"class {p[0]}:\n{p[1]}"),
        st.tuples(expressions, name, block).map(
            lambda p: f"match {p[0]}:\n    case {p[1]}:\n{indented(p[2])}"
        ),
    )


simple = st.one_of(
    st.tuples(st.sampled_from(NAMES), expressions).map(lambda p: f"{p[0]} = {p[1]}"),
    st.tuples(st.sampled_from(NAMES), expressions).map(lambda p: f"{p[0]} += {p[1]}"),
    st.sampled_from(NAMES).map(lambda n: f"del {n}"),
    expressions,
    st.sampled_from(NAMES).map(lambda n: f"import sys as {n}"),
)
statements = st.recursive(simple, compound, max_leaves=6)
programs = st.lists(statements, min_size=1, max_size=4).map("\n".join)


class Anything:
    """A value that supports every operation."""

    def __add__(self, other: object) -> Anything:
        return self

    __radd__ = __add__

    def __call__(self, *args: object) -> Anything:
        return self


class Watched(dict[str, Any]):
    """A namespace that records which names a program reads first, and which it binds."""

    def __init__(self) -> None:
        super().__init__({"__builtins__": builtins, **{name: Anything() for name in NAMES}})
        self.read: set[str] = set()
        self.written: set[str] = set()
        self.own: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        if name in NAMES and name not in self.own:
            self.read.add(name)
        return super().__getitem__(name)

    def __setitem__(self, name: str, value: Any) -> None:
        if name in NAMES:
            self.written.add(name)
            self.own.add(name)
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        if name not in self.own:
            self.read.add(name)
        self.own.discard(name)
        self.written.add(name)


UNSEEN = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
"""A walrus in a comprehension compiles to these; ``Watched`` does not see them."""


def really(source: str) -> Watched | None:
    """Run a program; return its namespace, None when it is invalid or fails."""
    watched = Watched()
    try:
        program = compile(source, "program", "exec")
        if any(step.opname in UNSEEN for step in dis.get_instructions(program)):
            return None
        exec(program, watched)
    except (SyntaxError, NameError, TypeError, AttributeError):
        return None
    return watched


@given(programs)
def test_nothing_a_program_reads_or_binds_is_missed(source: str) -> None:
    did = really(source)
    if did is None:
        return
    names = cell_names(source)
    assert names.known, source
    assert did.read <= names.uses, source
    assert did.written <= names.touches | names.uses & names.defines, source


@given(st.lists(simple, min_size=1, max_size=6).map("\n".join))
def test_straight_programs_are_known_exactly(source: str) -> None:
    did = really(source)
    if did is None or any(word in source for word in (" or ", " if ", " for ", "lambda")):
        return
    names = cell_names(source)
    assert names.uses & set(NAMES) == did.read, source
    assert names.touches == did.written, source


def test_names_of_nothing() -> None:
    assert cell_names("") == CellNames()
