"""Outputs of cells as text for a model: no escape codes, no base64, the user's frames first.

Pure. Used by ``notebook.render``, and by tools that page through one output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from jupyter_ai_shoulders.wire.base import Json, JsonObject

OUTPUT_LIMIT = 8_000
"""Characters of one output a model reads; three quarters from the head, the rest from the end."""

# ECMA-48: CSI sequences, OSC/DCS/PM/APC strings up to BEL or ST, two-byte escapes.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.DOTALL,
)
_OVERWRITTEN = re.compile(r"[^\n\r]*\r+(?=[^\n\r])")
_FRAME = re.compile(r"^(?:Cell In ?\[|Input In |<ipython-input-|File )")
_LIBRARY = re.compile(
    r"site-packages|dist-packages|[/\\]lib[/\\]python\d|<frozen |<__array_function__ "
)
_CHAIN = re.compile(r"^(?:During handling of the above|The above exception was the direct)")
_RAISED = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Group)\b(?::|$)")
_HEADER = re.compile(r"^-{20,}$|Traceback \(most recent call last\)")
_MAX_LIBRARY_FRAMES = 4
_MAX_FRAME_LINES = 15


def plain_text(text: str) -> str:
    """Return ``text`` as a terminal would leave it: no escape codes, no overwritten line parts."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    return _OVERWRITTEN.sub("", text).replace("\r", "\n") if "\r" in text else text


def join_text(value: Json) -> str:
    """Return a multi-line string of nbformat, stored whole or as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def truncate_middle(text: str, limit: int) -> str:
    """Return ``text``, or its head and tail with a line that states the omitted length."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 3 // 4], text[-(limit // 4) :]
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n… {left_out} characters left out …\n{tail}"


def output_text(output: JsonObject, limit: int = OUTPUT_LIMIT) -> str:
    """Return one nbformat output as bounded text for a model."""
    return truncate_middle(whole_text(output), limit)


def whole_text(output: JsonObject) -> str:
    """Return one nbformat output as text, however long."""
    match output.get("output_type"):
        case "stream":
            text = plain_text(join_text(output.get("text")))
        case "error":
            text = _error(output)
        case _:
            data = output.get("data")
            text = _bundle(data) if isinstance(data, dict) else ""
    return text.rstrip("\n")


def error_line(output: JsonObject) -> str:
    """Return ``ErrorName: message`` of an error output."""
    name = join_text(output.get("ename")) or "Error"
    message = plain_text(join_text(output.get("evalue"))).strip()
    return f"{name}: {message}" if message else name


def traceback_text(traceback: Sequence[str]) -> str:
    """Return a traceback with the user's own frames first, libraries' frames as one line each."""
    lines = plain_text("\n".join(traceback)).splitlines()
    blocks = list(_blocks(line for line in lines if not _HEADER.search(line)))
    if not any(_FRAME.match(block[0]) for block in blocks):
        return "\n".join(line for block in blocks for line in block).strip("\n")
    own = [block for block in blocks if _FRAME.match(block[0]) and not _is_library(block)]
    libraries = [block for block in blocks if _is_library(block)]
    # The last raised line is the error itself, shown above the traceback.
    causes = [f"Raised before: {block[0]}" for block in blocks if _RAISED.match(block[0])][:-1]
    return "\n".join([*_own_frames(own), *_library_frames(libraries), *causes])


def _error(output: JsonObject) -> str:
    traceback = output.get("traceback")
    items = traceback if isinstance(traceback, list) else []
    compact = traceback_text([item for item in items if isinstance(item, str)])
    line = error_line(output)
    rest = compact.removesuffix(line).strip("\n")
    return f"{line}\n{rest}" if rest else line


def _blocks(lines: Iterable[str]) -> Iterable[list[str]]:
    """Split at frames, notes of chained exceptions and raised errors."""
    block: list[str] = []
    for line in lines:
        starts = _FRAME.match(line) or _CHAIN.match(line) or _RAISED.match(line)
        if starts and block:
            yield block
            block = []
        if line.strip() or block:
            block.append(line)
    if block:
        yield block


def _is_library(block: Sequence[str]) -> bool:
    return _FRAME.match(block[0]) is not None and _LIBRARY.search(block[0]) is not None


def _own_frames(blocks: Sequence[list[str]]) -> list[str]:
    lines: list[str] = []
    for block in blocks:
        while block and not block[-1].strip():
            block.pop()
        lines += block[:_MAX_FRAME_LINES]
        if len(block) > _MAX_FRAME_LINES:
            lines.append(f"… {len(block) - _MAX_FRAME_LINES} lines left out")
    return lines


def _library_frames(blocks: Sequence[list[str]]) -> list[str]:
    headers = [re.sub(r"^File \S*?(?:site|dist)-packages[/\\]", "File …/", b[0]) for b in blocks]
    left_out = len(headers) - _MAX_LIBRARY_FRAMES
    if left_out <= 0:
        return headers
    return [f"… {left_out} library frames left out", *headers[left_out:]]


def _bundle(data: JsonObject) -> str:
    """Return the best text of a MIME bundle, and name the rest."""
    shown = next(
        (mime for mime in ("text/plain", "text/markdown", "text/latex") if mime in data), None
    )
    if shown is None and "application/json" in data:
        shown = "application/json"
    lines = [_text_of(data[shown], shown)] if shown is not None else []
    named = [_named(mime, value) for mime, value in data.items() if mime != shown]
    return "\n".join([*lines, *named])


def _text_of(value: Json, mime: str) -> str:
    if mime == "application/json":
        return json.dumps(value, ensure_ascii=False)
    return plain_text(join_text(value)).rstrip("\n")


def _named(mime: str, value: Json) -> str:
    if isinstance(value, dict):
        return f"[{mime}]"
    size = len(join_text(value))
    if mime.startswith("image/") and mime != "image/svg+xml":
        return f"[{mime}, {max(1, size * 3 // 4 // 1024)} KB]"
    return f"[{mime}, {size} characters]"
