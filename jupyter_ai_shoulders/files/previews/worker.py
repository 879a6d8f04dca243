"""The program that reads one document: bytes in, text out, within limits on memory and time.

Started by ``files.previews.document_previews`` as ``python -m
jupyter_ai_shoulders.files.previews.worker <kind>``; answers with one line of JSON.
"""

from __future__ import annotations

import json
import logging
import os
import sys

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.files.previews.formats import preview

MEMORY = 2 << 30
"""Bytes of address space; a reader and its libraries map half a gigabyte at start."""
CPU_SECONDS = 20


def main() -> None:
    """Answer one request."""
    limit_self()
    logging.disable(logging.CRITICAL)  # readers log defects of a file
    [_, kind] = sys.argv
    sys.stdout.write(json.dumps(answer(kind, sys.stdin.buffer.read())))
    sys.stdout.flush()
    os._exit(0)  # readers' threads may abort the process while it ends in order (Arrow's do)


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


def limit_self() -> None:
    """Limit this process; on Windows only its time is limited, by the process that started it."""
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
