"""Odd but legal names: 500 of them work with every operation."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search.directory_listing import list_entries

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse some names")

WORDS = [
    *("größe", "naïve", "Ångström", "ça va", "données été", "данные", "数据", "データ", "데이터"),
    *("بيانات", "נתונים", "ข้อมูล", "डेटा", "δεδομένα", "ß", "ẞ", "İi", "ﬁle", "e\u0301", "\u00e9"),
    *("😀", "👩‍🔬", "🏳️‍🌈", "𝒳", "𐍈", "a\u200bb", "a\u202eb", "\ufeffbom", "a\u00a0b", "\u2028"),
    *("-n", "--help", "-", "_", "+", "=", "@", "#", "!", "%", "^", "&", "*", "(x)", "[x]", "{x}"),
    *("a b", " a", "a ", "a.", "a..", "..a", "...", "....", ". .", "a:b", "a;b", "a,b", "a|b"),
    *(
        "a'b",
        'a"b',
        "a`b",
        "a$b",
        "a$(b)",
        "a&&b",
        "a>b",
        "a<b",
        "a?b",
        "a*b",
        "a\\b",
        "\\",
        "a\tb",
    ),
    *(
        "a\nb",
        "a\rb",
        "a\x01b",
        "a\x1bb",
        "a\x7fb",
        "%2e%2e",
        "%2f",
        "%00",
        "%41%",
        "a%20b",
        "~",
        "~x",
    ),
    *("$HOME", "$x", "%TEMP%", "CON", "NUL", "aux.txt", "COM1", "LPT1.csv", "file::$DATA", "C:x"),
    *("C:\\x", "\\\\server\\x", "a~1", "PROGRA~1", ".hidden", ".a.b", "a.tar.gz", "Makefile", "0"),
    *(
        "null",
        "None",
        "true",
        "1e9",
        "NaN",
        "x" * 255,
        "é" * 127,
        "数" * 85,
        "😀" * 63,
        "．．",
        "‥",
    ),
    *("／", "∕", "a/b".replace("/", "⁄"), "untitled (1).csv", "Kopie von Daten.xlsx", "q=1&r=2"),
]
SCRIPTS = [0x0100, 0x0370, 0x0400, 0x0530, 0x05D0, 0x0620, 0x0904, 0x0E01, 0x1100, 0x13A0, 0x3041]
LETTERS = [
    chr(base + step) + suffix for base in SCRIPTS for step in range(18) for suffix in (".csv", " 2")
]
NAMES = [
    name
    for name in dict.fromkeys([*WORDS, *LETTERS])
    if not any(unicodedata.category(sign) == "Cs" for sign in name)
]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    def at_once(descriptor: int) -> None:
        del descriptor

    monkeypatch.setattr(os, "fsync", at_once)
    root = tmp_path / "root"
    root.mkdir()
    found = Workspace(root)
    yield found
    found.close()


FOREIGN = ("C:\\x", "\\\\server\\x")
"""Read as paths of another system unless they begin with ``./``."""


def test_there_are_enough_names():
    assert len(NAMES) >= 500


def test_odd_names_work_in_all_that_is_done(workspace: Workspace):
    root = workspace.directory
    for name in NAMES:
        content = name.encode()
        path = workspace.path(f"./{name}")
        assert path == name
        workspace.create(path, content)
        assert (root / name).read_bytes() == content, name
        found = workspace.read(path)
        assert found.content == content
        assert workspace.path(str(root / name)) == name
        here = "./" if name in FOREIGN else ""
        assert workspace.path(here + path) == name
        assert workspace.kind(path) == "file"
        facts = workspace.replace(path, content * 2, found.stat)
        assert workspace.digest(path).stat == facts
        workspace.move(path, workspace.path("moved"))
        workspace.make_folder(path)
        inner = workspace.path(f"./{name}/{name}")
        assert inner == f"{name}/{name}"
        assert workspace.path(here + inner) == inner
        workspace.copy(workspace.path("moved"), inner)
        assert (root / name / name).read_bytes() == content * 2
        assert list(workspace.names(path)) == [name]
        workspace.remove(inner, workspace.stat(inner))
        workspace.remove_folder(path)
        workspace.remove(workspace.path("moved"), workspace.stat(workspace.path("moved")))
        assert not list(root.iterdir()), name


def test_odd_names_are_listed(workspace: Workspace):
    for name in NAMES:
        workspace.create(workspace.path(f"./{name}"), b"")
    assert sorted(workspace.names(workspace.path(""))) == sorted(NAMES)
    shown = list_entries(workspace, "", depth=1, limit=2_000)
    assert {entry.path for entry in shown.entries} == {
        name for name in NAMES if not name.startswith(".")
    }
