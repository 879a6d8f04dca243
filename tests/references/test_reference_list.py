"""Names, search and duplicates."""

import pytest

from jupyter_ai_shoulders.references.bibtex.bibliography import parse_bibliography
from jupyter_ai_shoulders.references.names import bibtex_names, parse_names
from jupyter_ai_shoulders.references.reference_list import (
    find_duplicate,
    listed,
    normalized_doi,
    to_reference,
)

NAMES: dict[str, tuple[str, list[str]]] = {
    "family first": ("Lovelace, Ada", ["Ada Lovelace"]),
    "given first": ("Ada Lovelace", ["Ada Lovelace"]),
    "several": ("Ada Lovelace and Babbage, Charles", ["Ada Lovelace", "Charles Babbage"]),
    "a particle": ("Ludwig van Beethoven", ["Ludwig van Beethoven"]),
    "a suffix": ("King, Jr., Martin Luther", ["Martin Luther King Jr."]),
    "an organisation": ("{Barnes and Noble}", ["Barnes and Noble"]),
    "accents": (r"G{\"o}del, Kurt", ["Kurt Gödel"]),
    "others": ("Ada Lovelace and others", ["Ada Lovelace"]),
    "one word": ("Plato", ["Plato"]),
    "lines": ("Ada Lovelace\n  and\n  Plato", ["Ada Lovelace", "Plato"]),
    "nobody": ("", []),
}


@pytest.mark.parametrize(("value", "expected"), NAMES.values(), ids=NAMES)
def test_names_are_read_as_bibtex_does(value: str, expected: list[str]) -> None:
    names = parse_names(value)
    assert [name.shown for name in names] == expected
    assert [name.shown for name in parse_names(bibtex_names(names))] == expected


@pytest.mark.parametrize("doi", ["10.1/ABC", "https://doi.org/10.1/abc", "doi: 10.1/abc."])
def test_a_doi_is_compared_without_its_address(doi: str) -> None:
    assert normalized_doi(doi) == "10.1/abc"


TEXT = """@article{a, title = {The {DNA} of things: A study}, year = 2000, doi = {10.1/A}}
@article{b, title = {Other}, date = {2001-05}}"""


@pytest.mark.parametrize(
    ("doi", "title", "year", "expected"),
    [
        ("10.1/a", "Anything", "1999", "a"),
        ("", "the dna of things – a study", "2000", "a"),
        ("", "the dna of things – a study", "2001", None),
        ("10.1/other", "The DNA of things: A study", "2000", None),
        ("10.1/other", "Other", "2001", "b"),
        ("", "", "2000", None),
    ],
    ids=["by DOI", "by title and year", "other year", "other DOI", "new DOI", "no title"],
)
def test_a_duplicate_is_found_by_doi_or_by_title_and_year(
    doi: str, title: str, year: str, expected: str | None
) -> None:
    entries = parse_bibliography(TEXT).entries
    found = find_duplicate([listed(to_reference("x", e)) for e in entries], doi, title, year)
    assert (found.key if found else None) == expected
