"""An artificial language: each string of the page with marks, and 40 % longer.

Text without marks did not pass through the translator; text that does not fit would not fit in
German either. ``test_pseudo_locale`` uses it as a language pack.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parents[3] / "labextension" / "src"
LANGUAGE = "eo"
MARKS = "«»"
_LITERAL = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`$]*`"
_CALL = re.compile(rf"\b(?:trans|this\.trans)\s*\.(__|_n)\(\s*({_LITERAL})(?:\s*,\s*({_LITERAL}))?")


def catalogue() -> dict[str, Any]:
    """All strings in the sources for the translator, in the form of a language pack."""
    messages: dict[str, Any] = {
        "": {
            "domain": "jupyter_ai_shoulders",
            "language": LANGUAGE,
            "plural_forms": "nplurals=2; plural=(n != 1);",
            "version": "1",
        }
    }
    for path in sorted(SOURCES.rglob("*.ts*")):
        if "__tests__" not in path.parts:
            for kind, one, many in _CALL.findall(path.read_text(encoding="utf-8")):
                texts = [one, many] if kind == "_n" and many else [one]
                values = [_value(text) for text in texts]
                messages[values[0]] = [longer(value) for value in values]
    return messages


def longer(text: str) -> str:
    """The text in this language."""
    return f"«{text} {'ö' * math.ceil(0.4 * len(text))}»"


def _value(literal: str) -> str:
    body = literal[1:-1]
    if literal[0] == "'":
        body = body.replace("\\'", "'").replace('"', '\\"')
    return json.loads(f'"{body}"', strict=False)


_GIVEN = (
    *("pre", "code", "kbd", "textarea", "[role=tab]", ".shoulders-Markdown", ".shoulders-Chip"),
    *(".shoulders-User-text", ".shoulders-Code-source", ".shoulders-Call-title", ".shoulders-Diff"),
    *(".shoulders-Call-target", ".shoulders-Call-note", ".shoulders-CallRow"),
    *(
        ".shoulders-Error",
        ".shoulders-ErrorBar-text",
        ".shoulders-Notice",
        ".shoulders-Remark",
        ".shoulders-CallDetail > p",
    ),
    ".shoulders-Markdown-host",  # of a link
    ".shoulders-Line-moment",  # a time today, or a date
    *(".shoulders-Arguments", ".shoulders-Option", ".shoulders-Todo", ".shoulders-Menu-label"),
    *(
        "table",
        ".shoulders-Proposal .shoulders-Link",
        ".shoulders-Artifact .shoulders-Card-remark",
        ".shoulders-Artifact-name",
        ".shoulders-Reference",
    ),
    *(
        ".shoulders-History-open",
        ".shoulders-Card-text",
        ".shoulders-Proposal .shoulders-Card-remark",
    ),
    ".shoulders-Approval .shoulders-Card-remark",
    *(".shoulders-Choice-title", "[aria-label*=attach] .shoulders-Choice-note"),
    *(".shoulders-Review-open", ".lm-Menu-itemShortcut", ".shoulders-StatusItem span"),
    *(".shoulders-Prompt-remark.shoulders-mod-error", ".shoulders-Sheet-list li[title]"),
    *(".shoulders-Banner-text", ".shoulders-Banner-hint", ".shoulders-Menu-note"),
    *("[aria-label*=Commands] .shoulders-Choice-note", "[role=dialog] .shoulders-Choices"),
    *(".shoulders-Provider h3", ".shoulders-Provider-facts", ".shoulders-Bars-name"),
    *(".shoulders-Line-name", ".shoulders-Line-facts", ".shoulders-Switch"),
    *(".shoulders-Facts dd", ".shoulders-Chart-days"),
    ".shoulders-Trust-item :is(.shoulders-Problems, .shoulders-Line-moment, strong)",
    ".shoulders-Line > .shoulders-Line-head .shoulders-Link",
)

RAW = """root => {
    // What people, models, files and the server say; names of products; what is a key or a number.
    const GIVEN = GIVEN_HERE;
    const raw = [];
    const isGiven = element => element.closest(GIVEN) !== null;
    const look = (text, element, where) => {
        const left = text.replace(/«[^«»]*»/g, '').replace(/«|»/g, '');
        if (/[A-Za-z]{3,}/.test(left) && !/«/.test(text)) {
            const place = element.className || element.parentElement.className;
            raw.push(`${where} ${text.trim().slice(0, 60)} in ${place}`);
        }
    };
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!isGiven(element) && element.checkVisibility()) {
            look(walker.currentNode.textContent, element, 'text');
        }
    }
    for (const element of root.querySelectorAll('[aria-label], [title], [placeholder]')) {
        for (const name of ['aria-label', 'title', 'placeholder']) {
            if (element.hasAttribute(name) && !isGiven(element)) {
                look(element.getAttribute(name), element, name);
            }
        }
    }
    return [...new Set(raw)];
}""".replace("GIVEN_HERE", json.dumps(", ".join(_GIVEN)))
"""The texts of an element that are not in this language."""

CUT = """root => {
    const edge = root.getBoundingClientRect().right + 1;
    const cut = [];
    for (const element of root.querySelectorAll('*')) {
        const box = element.getBoundingClientRect();
        const style = getComputedStyle(element);
        if (box.width === 0 || !element.checkVisibility() || element.closest('svg') !== null) {
            continue;
        }
        const scrolled = element.parentElement.closest(
            'pre, .shoulders-Code-source, .shoulders-Artifact-table, .shoulders-Markdown-block,'
            + ' .shoulders-Table,'
            + ' .shoulders-Diff, [role=tablist], .shoulders-Tabs, iframe');
        if (box.right > edge && scrolled === null) {
            cut.push(`sticks out of ${element.parentElement.className}:`
                + element.outerHTML.slice(0, 120));
        }
        if (element.matches('button') && style.textOverflow !== 'ellipsis'
            && element.scrollWidth > element.clientWidth + 1 && style.overflowX !== 'visible') {
            cut.push(`cut off: ${element.outerHTML.slice(0, 120)}`);
        }
    }
    return cut;
}"""
"""The texts of an element that are cut off."""
