"""The program that reads one fetched page: bytes in, text out, within limits on memory and time.

Started by ``web.pages.reader`` as ``python -m jupyter_ai_shoulders.web.pages.worker <kind>
<charset>``; answers with one line of JSON.
"""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import asdict

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.process.worker_limits import end_process, limit_process
from jupyter_ai_shoulders.web.pages.extraction import extract_html, extract_pdf

MEMORY = 2 << 30
"""Bytes of address space; the readers and their libraries map half a gigabyte at start."""
CPU_SECONDS = 15
_READERS = {"html": extract_html, "pdf": extract_pdf}


def main() -> None:
    """Answer one request."""
    limit_process(MEMORY, CPU_SECONDS)
    logging.disable(logging.CRITICAL)  # readers log defects of a page
    [_, kind, charset] = sys.argv
    end_process(json.dumps(answer(kind, charset or None, sys.stdin.buffer.read())))


def answer(kind: str, charset: str | None, content: bytes) -> dict[str, str | None]:
    """Return the text, or the reason why there is none."""
    try:
        return asdict(_READERS[kind](content, charset))
    except ShouldersError as error:
        info = error.info
        return {"text": None, "code": info.code, "message": info.message, "hint": info.hint}
    except (MemoryError, RecursionError):
        return {"text": None, "code": "too_large", "message": "reading it takes too much memory"}
    except Exception as error:  # noqa: BLE001 a reader's own errors are many; the process is the handler
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        message = f"it is damaged, or not what it says ({said})"
        return {"text": None, "code": "invalid_request", "message": message}


if __name__ == "__main__":
    main()
