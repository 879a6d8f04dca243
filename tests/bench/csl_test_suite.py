"""Runs the public test suite of the Citation Style Language against the CSL processor.

The fixtures are not part of this repository (CC BY-SA 3.0). Get them from
https://github.com/citation-style-language/test-suite (folder ``processor-tests/humans``), or from
the source package of Debian's ``haskell-citeproc`` (folder ``test/csl``), and run

    python -m tests.bench.csl_test_suite FOLDER [--plain] [--failures]

``--plain`` measures citeproc-py without our corrections. Results: docs/design/references.md.
"""

# citeproc-py has no types, so most values of this module are unknown to the type checker.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from citeproc import (
    Citation,
    CitationItem,
    CitationStylesBibliography,
    CitationStylesStyle,
    Locator,
    formatter,
)
from citeproc.source.json import CiteProcJSON

from jupyter_ai_shoulders.references.styles.citeproc_elements import CorrectedStyle
from jupyter_ai_shoulders.references.styles.processor import Processor
from jupyter_ai_shoulders.references.styles.style_description import style_locale
from jupyter_ai_shoulders.references.styles.typography import polish, space_after_number

_SECTION = re.compile(r">>=+ ?([A-Z-]+) ?=+>>\n(.*?)<<=+ ?\1 ?=+<<", re.DOTALL)


def sections(text: str) -> dict[str, str]:
    """Return the sections of a fixture by name."""
    return {name: content.strip() for name, content in _SECTION.findall(text)}


def is_supported(fixture: dict[str, str]) -> bool:
    """Return whether a fixture is of a kind that documents of ours can ask for.

    Documents that are edited while they are rendered (CITATIONS), filtered bibliographies
    (BIBSECTION) and other modes than citation and bibliography are not.
    """
    return (
        fixture.get("MODE") in ("citation", "bibliography")
        and not {"CITATIONS", "BIBSECTION", "ABBREVIATIONS"} & set(fixture)
        and "CSL" in fixture
    )


def rendered(fixture: dict[str, str], *, plain: bool) -> str:
    """Render a fixture as its RESULT is written."""
    csl = fixture["CSL"]
    locale = style_locale(csl, "en-US")
    if not plain and _is_simple(fixture):
        return _by_processor(fixture, locale)
    style: Any = (
        CitationStylesStyle(io.BytesIO(csl.encode()), locale, validate=False)
        if plain
        else CorrectedStyle(csl.encode(), locale)
    )
    items: list[dict[str, Any]] = json.loads(fixture["INPUT"])
    items = items if plain else [{"type": "", **item} for item in items]  # as csl_items writes them
    bibliography = CitationStylesBibliography(style, CiteProcJSON(items), formatter.html)
    clusters = [[_cite(cite) for cite in cluster] for cluster in _clusters(fixture, items)]
    citations = [Citation(cluster) for cluster in clusters]
    for citation in citations:
        bibliography.register(citation)
    if style.has_bibliography():
        bibliography.sort()
    quotes = str(style.root.get_locale_option("punctuation-in-quote")).lower() == "true"
    if fixture["MODE"] == "citation":
        texts = [str(bibliography.cite(citation, _nothing)) for citation in citations]
        return "\n".join(_finished(text, quotes, plain=plain) for text in texts)
    entries = [_finished(str(text), quotes, plain=plain) for text in bibliography.bibliography()]
    aligned = style.root.bibliography.get("second-field-align") and not plain
    entries = [space_after_number(text) if aligned else text for text in entries]
    return "\n".join(entries)


def _nothing(_item: object) -> str:
    return ""


def _is_simple(fixture: dict[str, str]) -> bool:
    """Return whether the cites are keys only, as those of our documents are."""
    items: list[dict[str, Any]] = json.loads(fixture["INPUT"])
    return all(set(cite) == {"id"} for cluster in _clusters(fixture, items) for cite in cluster)


def _by_processor(fixture: dict[str, str], locale: str) -> str:
    """Render a fixture the way documents are rendered."""
    items: list[dict[str, Any]] = json.loads(fixture["INPUT"])
    ids = {str(item["id"]): f"work{number}" for number, item in enumerate(items)}
    works = [{"type": "", **item, "id": ids[str(item["id"])]} for item in items]
    clusters = [[ids[str(cite["id"])] for cite in row] for row in _clusters(fixture, items)]
    result = Processor(fixture["CSL"].encode(), locale).render(works, clusters)
    is_citation = fixture["MODE"] == "citation"
    return "\n".join(result.citations if is_citation else [text for _, text in result.entries])


def _finished(text: str, quotes: bool, *, plain: bool) -> str:
    return text if plain else polish(text, punctuation_in_quotes=quotes)


def _clusters(fixture: dict[str, str], items: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    if "CITATION-ITEMS" in fixture:
        return json.loads(fixture["CITATION-ITEMS"])
    return [[{"id": item["id"]} for item in items]]


def _cite(cite: dict[str, Any]) -> Any:
    options: dict[str, Any] = {name: cite[name] for name in ("prefix", "suffix") if name in cite}
    if "locator" in cite:
        options["locator"] = Locator(cite.get("label", "page"), cite["locator"])
    return CitationItem(str(cite["id"]), **options)


def _same(first: str, second: str) -> bool:
    """Return whether texts differ in the way only that HTML is written."""
    return _normal(first) == _normal(second)


def _normal(text: str) -> str:
    for written, same in (("&#38;", "&"), ("&amp;", "&"), ("&#60;", "<"), ("&lt;", "<")):
        text = text.replace(written, same)
    text = re.sub(r"</?div[^>]*>", " ", text)
    text = re.sub(r'<span style="font-style:\s*normal;">(.*?)</span>', r"\1", text)
    return " ".join(text.split())


def outcome(fixture: dict[str, str], *, plain: bool) -> str:
    """Return ``passed``, ``failed``, or ``error``."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            text = rendered(fixture, plain=plain)
    except Exception:  # noqa: BLE001 citeproc-py fails in many ways; each is an error of that fixture
        return "error"
    return "passed" if _same(text, fixture["RESULT"]) else "failed"


def main() -> None:
    """Print how many fixtures pass."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--failures", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for path in sorted(options.folder.glob("*.txt")):
        fixture = sections(path.read_text("utf-8"))
        result = outcome(fixture, plain=options.plain) if is_supported(fixture) else "not supported"
        counts[result] += 1
        if options.failures and result in ("failed", "error"):
            print(result, path.stem)
    run = counts["passed"] + counts["failed"] + counts["error"]
    print(f"{counts['passed']} of {run} passed; {dict(counts)}")


if __name__ == "__main__":
    main()
