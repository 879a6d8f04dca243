"""The program that reads and changes one Word document, within limits on memory and time.

Started by ``files.word.word_files``. Its input is a line of JSON (``WordRequest``) and the
document's bytes, its output a line of JSON (``WordAnswer``) and, for an edit, the new bytes.
"""

from __future__ import annotations

import logging
import sys

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.files.word.requests import WordAnswer, WordRequest, answer_request
from jupyter_ai_shoulders.guard.process.worker_limits import limit_process
from jupyter_ai_shoulders.wire.errors import ErrorInfo

MEMORY = 2 << 30
"""Bytes of address space."""
CPU_SECONDS = 20


def main() -> None:
    """Answer one request."""
    limit_process(MEMORY, CPU_SECONDS)
    logging.disable(logging.CRITICAL)
    head, _, content = sys.stdin.buffer.read().partition(b"\n")
    answer, changed = answered(WordRequest.model_validate_json(head), content)
    sys.stdout.buffer.write(answer.model_dump_json().encode() + b"\n" + changed)
    sys.stdout.flush()


def answered(request: WordRequest, content: bytes) -> tuple[WordAnswer, bytes]:
    """Return the answer and the new bytes, empty but for an edit."""
    try:
        return answer_request(request, content)
    except ShouldersError as error:
        return WordAnswer(error=error.info), b""
    except MemoryError:
        info = ErrorInfo(code="too_large", message="reading it takes too much memory", hint=None)
        return WordAnswer(error=info), b""
    except Exception as error:  # noqa: BLE001 hostile bytes may break any step; the process is the handler
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        info = ErrorInfo(
            code="invalid_request",
            message=f"it is damaged, or not what it says ({said})",
            hint=None,
        )
        return WordAnswer(error=info), b""


if __name__ == "__main__":
    main()
