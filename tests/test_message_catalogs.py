"""The catalogue of messages is current, and the German pack is complete."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from jupyterlab_server.translation_utils import (
    get_installed_packages_locale,  # pyright: ignore[reportUnknownVariableType]: untyped
)

REPOSITORY = Path(__file__).parents[1]
DOMAIN = "jupyter_ai_shoulders"
LOCALES = REPOSITORY / DOMAIN / "locale"
GERMAN = LOCALES / "de_DE" / "LC_MESSAGES" / f"{DOMAIN}.po"
Packs = Mapping[str, Mapping[str, Sequence[str]]]
PLACEHOLDER = re.compile(r"%\d+|%%|`[^`]*`")


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


@pytest.fixture(scope="module")
def catalogue() -> Catalog:
    return read(LOCALES / f"{DOMAIN}.pot")


def test_the_catalogue_and_the_packs_are_up_to_date() -> None:
    script = REPOSITORY / ".ci" / "messages.py"
    checked = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert checked.stdout + checked.stderr == ""


@pytest.mark.parametrize(
    ("context", "text"),
    [
        (None, "Try again"),
        (None, ("%1 file", "%1 files")),
        ("server", "Run all cells"),
        ("server", "Edit cell %1"),
        ("server", "Move cell %1 below cell %2"),  # a phrase inserted into another
        ("server", "There is no cell %1 in %2."),
        ("server", "the key was not accepted"),  # from a table that is looked up
        ("server", "nothing answers at %1"),  # filled by `str.format`
        ("server", "There is no such file."),  # returned by a function of the table
        ("server", "It has no text."),  # the reason of an indexed file
        ("server", "Search by meaning is not up to date: %1"),  # the value of an attribute
        ("server", "Only words were searched: %1 is not available."),
    ],
)
def test_the_catalogue_has_texts_of_the_page_and_of_the_server(
    catalogue: Catalog, context: str | None, text: str | tuple[str, str]
) -> None:
    one = text if isinstance(text, str) else text[0]
    found = catalogue.get(one, context)
    assert found is not None
    assert found.id == text


def test_german_has_each_message_with_its_forms_and_placeholders(catalogue: Catalog) -> None:
    pack = read(GERMAN)
    assert pack.num_plurals == 2
    assert list(_wrong(catalogue, pack)) == []


def _wrong(catalogue: Catalog, pack: Catalog) -> Iterator[str]:
    for message in catalogue:
        if not message.id:
            continue
        found = pack.get(_first(message), message.context)
        texts = () if found is None else _several(found.string)
        if not all(texts) or len(texts) != len(_several(message.id)):
            yield f"not translated: {message.id}"
        elif any(
            sorted(PLACEHOLDER.findall(english)) != sorted(PLACEHOLDER.findall(german))
            for english, german in zip(_several(message.id), texts, strict=True)
        ):
            yield f"other placeholders: {message.id} as {texts}"


def _first(message: Message) -> str:
    return _several(message.id)[0]


def _several(text: str | Sequence[str] | None) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text or ())


def test_jupyterlab_finds_the_german_pack() -> None:
    found = cast("tuple[Packs, str]", get_installed_packages_locale("de_DE"))
    packs, problems = found
    assert problems == ""
    assert packs[DOMAIN]["server\x04Run all cells"] == ["Alle Zellen ausführen"]
    assert packs[DOMAIN]["%1 file"] == ["%1 Datei", "%1 Dateien"]
