"""The program that reads one document: bytes in, text out, within limits on memory and time.

Started by ``files.previews.document_previews`` as ``python -m
jupyter_ai_shoulders.files.previews.worker <kind>``; answers with one line of JSON.
"""

from __future__ import annotations

import json
import logging
import sys

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.files.previews.formats import preview
from jupyter_ai_shoulders.guard.process.worker_limits import end_process, limit_process

MEMORY = 2 << 30
"""Bytes of address space; a reader and its libraries map half a gigabyte at start."""
CPU_SECONDS = 20


def main() -> None:
    """Answer one request."""
    limit_process(MEMORY, CPU_SECONDS)
    logging.disable(logging.CRITICAL)  # readers log defects of a file
    [_, kind] = sys.argv
    end_process(json.dumps(answer(kind, sys.stdin.buffer.read())))


def answer(kind: str, content: bytes) -> dict[str, str | None]:
    """Return the text, or the reason why there is none."""
    try:
        return {"text": preview(kind, content)}
    except ShouldersError as error:
        return {
            "code": error.info.code,
            "message": error.info.message,
            "hint": error.info.hint,
        }
    except MemoryError:
        return {"code": "too_large", "message": "reading it takes too much memory"}
    except Exception as error:  # noqa: BLE001 a reader's own errors are many; the process is the handler
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return {
            "code": "invalid_request",
            "message": f"it is damaged, or not what it says ({said})",
        }


if __name__ == "__main__":
    main()
