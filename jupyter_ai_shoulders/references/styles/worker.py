"""The process that renders citations: a document and a style in, texts out, within limits.

Started by ``references.styles.citation_styles``, as ``python -m jupyter_ai_shoulders.references.
styles.worker``. Reads and answers one line of JSON (``messages.py``). A style and a bibliography
may come from anyone: a style with endless macros affects this process only.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys

from jupyter_ai_shoulders.references.styles.messages import FormatAnswer, FormatRequest

MEMORY = 1 << 30
"""Bytes of address space."""
CPU_SECONDS = 20
RECURSION = 3_000
"""Levels of calls; each level of a macro takes about six."""


def main() -> None:
    """Answer one request."""
    _limit_self()
    logging.disable(logging.CRITICAL)
    request: FormatRequest = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):  # the processor prints what it does not know
        answer = format_document(request)
    sys.stdout.write(json.dumps(answer))


def format_document(request: FormatRequest) -> FormatAnswer:
    """Render a document; a style's defects become ``error``.

    lxml's ``XMLSyntaxError`` is a ``SyntaxError``.
    """
    try:
        return _formatted(request)
    except (SyntaxError, ValueError) as error:
        return _failed(" ".join(str(error).split())[:300])
    except RecursionError:
        return _failed("its macros call each other without end")
    except MemoryError:
        return _failed("rendering it takes too much memory")
    except Exception as error:  # noqa: BLE001 citeproc-py fails in many ways on styles it does not know
        said = " ".join(f"{type(error).__name__} {error}".split())[:200]
        return _failed(f"the CSL processor cannot use it ({said})")


def _formatted(request: FormatRequest) -> FormatAnswer:
    from jupyter_ai_shoulders.references.styles.csl_items import csl_item
    from jupyter_ai_shoulders.references.styles.markup import markdown, plain_text, safe_html
    from jupyter_ai_shoulders.references.styles.processor import Processor

    ids = {work["key"]: f"work{number}" for number, work in enumerate(request["works"])}
    keys = {identifier: key for key, identifier in ids.items()}
    items = [csl_item(ids[work["key"]], work["type"], work["fields"]) for work in request["works"]]
    clusters = [[ids[key] for key in cluster if key in ids] for cluster in request["clusters"]]
    processor = Processor(request["style"].encode(), request["locale"])
    rendered = processor.render(items, clusters)
    return {
        "citations": [plain_text(citation) for citation in rendered.citations],
        "entries": [
            {
                "key": keys[identifier],
                "html": safe_html(html),
                "markdown": markdown(html),
                "text": plain_text(html),
            }
            for identifier, html in rendered.entries
        ],
        "error": "",
    }


def _failed(error: str) -> FormatAnswer:
    return {"citations": [], "entries": [], "error": error}


def _limit_self() -> None:
    """Limit this process; on Windows only its time is limited, by the process that started it."""
    sys.setrecursionlimit(RECURSION)
    try:
        import resource
    except ImportError:
        return
    for what, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (wanted, wanted))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
