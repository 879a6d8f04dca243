r"""Citations in the text of documents: found, written and joined in MyST, Pandoc and LaTeX.

Pure rules, called by the tools, the check and the formatting of citations. Syntax:
https://mystmd.org/guide/citations, https://pandoc.org/MANUAL.html#citation-syntax, and ``\cite``
of LaTeX, natbib and biblatex. Code, comments and verbatim text hold no citations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.references.code_regions import prose_of_latex, prose_of_markdown
from jupyter_ai_shoulders.wire.api.references import CitationSyntax

_ROLE = re.compile(r"\{(cite[a-z]*(?::[a-z]+)?)\}`([^`]{1,4000})`")
_ROLE_NOTE = re.compile(r"\{[^{}]*\}")
_BRACKETED = re.compile(r"(?<!\\)\[([^\[\]]{1,4000})\](?![(\[])")
_PANDOC_KEY = re.compile(
    r"(?<![\w\\@./])-?@(?:\{([^{}\s]{1,256})\}|(\w(?:[\w]|[:.#$%&\-+?<>~/](?=\w)){0,255}))"
)
_SIMPLE_KEY = re.compile(r"\w(?:[\w]|[:.#$%&\-+?<>~/](?=\w))*")
_LATEX = re.compile(
    r"\\([A-Za-z]{0,20}[cC]ite[a-zA-Z]{0,20}\*?)"
    r"(?:\s{0,4}\[[^\]]{0,2000}\]){0,2}\s{0,4}\{([^{}]{1,4000})\}"
)
_CROSS_REFERENCE = re.compile(
    r"(?:fig|tbl|sec|eq|lst|thm|lem|cor|prp|cnj|def|exm|exr|sol|rem|nte|tip|wrn|imp|cau)-"
)
"""Keys that Quarto takes as cross-references (https://quarto.org/docs/authoring/cross-references)."""
_FORBIDDEN_IN_KEY = re.compile(r"[\s,{}`\"'\\%#\[\]();=]")
_SENTENCE_END = ".!?。"
_NOT_PROSE_LINE = ("#", "|", "$$", ":::", "<", "```", "~~~")
_PARENTHETICAL = {"cite", "cite:p", "citep", "parencite", "autocite"}


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation; ``start`` and ``end`` are positions in the text that was searched."""

    keys: tuple[str, ...]
    start: int
    end: int
    syntax: CitationSyntax
    is_bare: bool = False
    """Pandoc's ``@key`` without brackets, which may also be a name of a person."""
    command: str = ""
    """The role or command, such as ``cite:p``; empty for Pandoc."""


def find_citations(text: str, *, latex: bool = False) -> tuple[Citation, ...]:
    """Return the citations of a document in order; ``latex``: it is a ``.tex`` file."""
    if latex:
        return tuple(_latex(prose_of_latex(text)))
    prose = prose_of_markdown(text)
    found = [*_myst(prose), *_bracketed(prose), *_latex(prose)]
    found.sort(key=lambda citation: citation.start)
    return tuple(sorted((*found, *_bare(prose, found)), key=lambda citation: citation.start))


def detect_syntax(text: str, *, latex: bool = False) -> CitationSyntax | None:
    """Return the syntax that most citations of a document have; None where it has none."""
    if latex:
        return "latex"
    counts: Counter[CitationSyntax] = Counter(
        citation.syntax
        for citation in find_citations(text)
        if not citation.is_bare or any(character.isdigit() for character in citation.keys[0])
    )
    return counts.most_common(1)[0][0] if counts else None


def citation_text(keys: Sequence[str], syntax: CitationSyntax, command: str = "") -> str:
    """Return the text that cites works together.

    ``command`` is another role or command than ``cite``. Raises ``InvalidRequest`` for a key that
    the syntax cannot hold.
    """
    for key in keys:
        _check_key(key)
    match syntax:
        case "myst":
            return f"{{{command or 'cite'}}}`{','.join(keys)}`"
        case "pandoc":
            return f"[{'; '.join(map(_pandoc_key, keys))}]"
        case "latex":
            return f"\\{command or 'cite'}{{{','.join(keys)}}}"


def insert_citation(
    text: str,
    keys: Sequence[str],
    after: str | None,
    default: CitationSyntax,
    *,
    latex: bool = False,
) -> str:
    """Return a document that cites ``keys`` after a text, or at its end.

    Joins a citation that is there; keys it already has are not repeated, so the text may stay as it
    is. Without ``after`` the citation precedes the full stop of the last sentence. Raises
    ``InvalidRequest``: ``after`` is missing, occurs more than once or is in code; a key cannot be
    cited.
    """
    citations = find_citations(text, latex=latex)
    place = (
        _end_of_text(text, latex=latex) if after is None else _place_after(text, after, latex=latex)
    )
    joined = _citation_at(text, citations, place.position)
    if joined is not None:
        return _with_keys(text, joined, keys)
    syntax = detect_syntax(text, latex=latex) or ("latex" if latex else default)
    written = citation_text(keys, syntax, _usual_command(citations, syntax))
    before, rest = text[: place.position], text[place.position :]
    if place.own_paragraph:
        gap = "\n\n" if before.strip() else ""
        return f"{before.rstrip()}{gap}{written}{rest or ''}"
    gap = "" if not before or before[-1].isspace() or before[-1] in "([~" else " "
    if syntax == "latex" and gap:
        gap = "~"
    return f"{before}{gap}{written}{rest}"


def _myst(prose: str) -> Iterator[Citation]:
    for match in _ROLE.finditer(prose):
        keys = _split_keys(_ROLE_NOTE.sub("", match[2]))
        if keys:
            yield Citation(keys, *match.span(), "myst", command=match[1])


def _bracketed(prose: str) -> Iterator[Citation]:
    for match in _BRACKETED.finditer(prose):
        if "@" in match[1] and "\n\n" not in match[1]:
            keys = tuple(key[1] or key[2] for key in _PANDOC_KEY.finditer(match[1]))
            keys = tuple(key for key in keys if not _CROSS_REFERENCE.match(key))
            if keys:
                yield Citation(keys, *match.span(), "pandoc")


def _bare(prose: str, found: Sequence[Citation]) -> Iterator[Citation]:
    """Yield Pandoc's citations in the text, outside those ``found``, which are in order."""
    index = 0
    for match in _PANDOC_KEY.finditer(prose):
        while index < len(found) and found[index].end <= match.start():
            index += 1
        inside = index < len(found) and found[index].start <= match.start()
        key = match[1] or match[2]
        if not inside and not _CROSS_REFERENCE.match(key):
            yield Citation((key,), *match.span(), "pandoc", is_bare=True)


def _latex(prose: str) -> Iterator[Citation]:
    for match in _LATEX.finditer(prose):
        keys = tuple(key for key in _split_keys(match[2]) if key != "*")
        if keys:
            yield Citation(keys, *match.span(), "latex", command=match[1])


def _split_keys(text: str) -> tuple[str, ...]:
    return tuple(key for key in (part.strip() for part in text.split(",")) if key)


def _check_key(key: str) -> None:
    if not key or _FORBIDDEN_IN_KEY.search(key):
        raise InvalidRequest(
            f"The key {key!r} cannot be cited: it has spaces or punctuation that ends a key.",
            hint="Rename the key in the bibliography, or add the work under another key.",
        )


def _pandoc_key(key: str) -> str:
    return f"@{key}" if _SIMPLE_KEY.fullmatch(key) else f"@{{{key}}}"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a citation goes; in a paragraph for itself where no sentence is."""

    position: int
    own_paragraph: bool = False


def _end_of_text(text: str, *, latex: bool) -> _Place:
    end = len(text)
    if latex:
        closing = text.rfind("\\end{document}")
        end = end if closing < 0 else closing
    end = len(text[:end].rstrip())
    line = text[text.rfind("\n", 0, end) + 1 : end]
    prose = prose_of_latex(text) if latex else prose_of_markdown(text)
    if not line.strip() or line.lstrip().startswith(_NOT_PROSE_LINE) or prose[end - 1].isspace():
        return _Place(end, own_paragraph=True)
    if text[end - 1] in _SENTENCE_END and not text[:end].endswith(".."):
        end -= 1
    return _Place(end)


def _place_after(text: str, after: str, *, latex: bool) -> _Place:
    first = text.find(after)
    if not after or first < 0:
        raise InvalidRequest(
            "The text to cite after is not in the document.",
            hint="Read the document and copy the text exactly, or leave `after` out.",
        )
    if text.find(after, first + 1) >= 0:
        raise InvalidRequest(
            "The text to cite after occurs more than once.",
            hint="Give a longer text that occurs once.",
        )
    position = first + len(after.rstrip()) if after.strip() else first + len(after)
    while position < len(text) and text[position - 1].isalnum() and text[position].isalnum():
        position += 1
    prose = prose_of_latex(text) if latex else prose_of_markdown(text)
    if prose[position - 1].isspace() and not text[position - 1].isspace():
        raise InvalidRequest(
            "The text to cite after is in code or in a comment, where nothing is cited.",
            hint="Give a text of a sentence.",
        )
    return _Place(position)


def _citation_at(text: str, citations: Sequence[Citation], position: int) -> Citation | None:
    """Return the citation that a position is in, or that follows or precedes it directly."""
    for citation in citations:
        if citation.is_bare:
            continue
        if citation.start < position <= citation.end:
            return citation
        if 0 <= citation.start - position <= 1 and not text[position : citation.start].strip(" ~"):
            return citation
    return None


def _with_keys(text: str, citation: Citation, keys: Sequence[str]) -> str:
    new = [key for key in dict.fromkeys(keys) if key not in citation.keys]
    for key in new:
        _check_key(key)
    if not new:
        return text
    added = (
        "".join(f"; {_pandoc_key(key)}" for key in new)
        if citation.syntax == "pandoc"
        else "".join(f",{key}" for key in new)
    )
    place = citation.end - 1
    return text[:place] + added + text[place:]


def _usual_command(citations: Sequence[Citation], syntax: CitationSyntax) -> str:
    """Return the role or command for a citation in brackets that the document mostly has."""
    commands = Counter(found.command for found in citations if found.syntax == syntax)
    for command, _ in commands.most_common():
        if command.lower() in _PARENTHETICAL:
            return command
    if syntax == "myst" and any(":" in command for command in commands):
        return "cite:p"
    return ""
