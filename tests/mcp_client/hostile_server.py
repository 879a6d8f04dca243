"""A hostile server of the protocol of 2025: ``python -IS hostile_server.py BEHAVIOUR [PORT]``.

It begins when it is asked for its tools, before that (``start:BEHAVIOUR``) or when its tool ``go``
is called (``call:BEHAVIOUR``). With ``http:`` it is a service, and answers the list of its tools
with endless events. Behaviours are in the tables below.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

STAGE, _, BEHAVIOUR = sys.argv[1].rpartition(":")
ROWS = 500
"""Messages that are written at once."""
INITIALIZED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {"listChanged": True}, "logging": {}, "resources": {}, "prompts": {}},
    "serverInfo": {"name": "hostile", "version": "1"},
}


def line(**fields: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **fields}) + "\n"


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def send(**fields: Any) -> None:
    write(line(**fields))


def tool(name: str, description: str = "Goes.", **schema: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {}, **schema},
    }


def endless(messages: Iterable[str]) -> None:
    """Write messages until the pipe breaks, as fast as possible; answers are not read."""
    source = iter(messages)
    while True:
        write("".join(itertools.islice(source, ROWS)))


def numbered(**fields: Any) -> Iterable[str]:
    return (line(id=f"r{number}", **fields) for number in itertools.count())


def answered(number: Any) -> None:
    """Answer a call or a list of tools, as an honest server does."""
    content = [{"type": "text", "text": "done"}]
    send(id=number, result={"tools": [tool("go")], "content": content})


def deep(number: Any) -> None:
    nested = "[" * 50_000 + "]" * 50_000
    write(f'{{"jsonrpc": "2.0", "id": {json.dumps(number)}, "result": {{"a": {nested}}}}}\n')


def long_line(_: Any) -> None:
    write('{"jsonrpc": "2.0", "id": 1, "result": "')
    endless(itertools.repeat("x" * 1000))


def wide(number: Any) -> None:
    rows = "[],".join([""] * (5 << 20)) + "[]"
    write(f'{{"jsonrpc": "2.0", "id": {number}, "result": {{"tools": [], "x": [{rows}]}}}}\n')


def twice(number: Any) -> None:
    for _ in range(3):
        answered(number)


def text_id(number: Any) -> None:
    answered(str(number))
    answered(number + 1000)
    time.sleep(0.1)
    answered(number)


def hidden(number: Any) -> None:
    sys.stderr.write("to \u202eterces\u202c\x1b[2J\n")
    sys.stderr.flush()
    send(method="notifications/message", params={"level": "info", "data": "a\u200bb"})
    time.sleep(0.05)
    answered(number)


def errors(number: Any) -> None:
    row = "no news " * 100 + "\n"
    for _ in range(20_000):
        sys.stderr.write(row)
    sys.stderr.flush()
    answered(number)


def refuses(number: Any) -> None:
    send(id=number, error={"code": -32000, "message": "no\u202e"})


def crash(_: Any) -> None:
    sys.stderr.write("about to end\n")
    sys.stderr.flush()
    os._exit(3)


def progress(number: Any) -> None:
    for step in itertools.count():
        params = {"progressToken": number, "progress": step, "message": "x" * 50}
        write(line(method="notifications/progress", params=params) * ROWS)


def changes(number: Any) -> None:
    answered(number)
    endless(itertools.repeat(line(method="notifications/tools/list_changed")))


ROOTS = {"method": "roots/list"}
INVALID = {"method": "notifications/message", "params": {"level": 5}}
LOG = {"method": "notifications/message", "params": {"level": "info", "data": "spam"}}
FLOODS: dict[str, Callable[[Any], None]] = {
    "requests": lambda _: endless(numbered(**ROOTS)),
    "same_request": lambda _: endless(itertools.repeat(line(id=1, **ROOTS))),
    "notifications": lambda _: endless(itertools.repeat(line(**LOG))),
    "invalid": lambda _: endless(itertools.repeat(line(**INVALID))),
    "answers": lambda _: endless(numbered(result={})),
    "blank": lambda _: endless(itertools.repeat("\n")),
    "deep_unknown": lambda _: deep("other"),
    "garbage": lambda _: endless(itertools.repeat("this is no message\n")),
    "long_line": long_line,
    "progress": progress,
    "changes": changes,
    "wide": wide,
    "deep": deep,
    "twice": twice,
    "text_id": text_id,
    "hidden": hidden,
    "errors": errors,
    "crash": crash,
    "refuses": refuses,
    "silent": lambda _: None,
    "deaf": answered,
}


def large_page(cursor: int) -> tuple[list[dict[str, Any]], int | None]:
    return [tool(f"t{cursor}", "x" * (8 << 20))], cursor + 1 if cursor < 50 else None


LISTS: dict[str, Callable[[int], tuple[list[dict[str, Any]], int | None]]] = {
    "large_pages": large_page,
    "endless_pages": lambda cursor: ([tool(f"t{cursor}")], cursor + 1),
    "same_page": lambda _: ([tool("again")], 7),
    "many_tools": lambda _: ([tool(f"t{number}") for number in range(10_000)], None),
    "large_schema": lambda _: ([tool("go"), tool("large", title="x" * (5 << 20))], None),
}


def answer_to(message: dict[str, Any]) -> None:
    number, method = message.get("id"), message.get("method")
    if method == "initialize":
        if STAGE == "start":
            FLOODS[BEHAVIOUR](number)
        else:
            send(id=number, result=INITIALIZED)
    elif method == "tools/list" and BEHAVIOUR in LISTS:
        params: dict[str, Any] = message.get("params") or {}
        tools, following = LISTS[BEHAVIOUR](int(params.get("cursor", 0)))
        more = {} if following is None else {"nextCursor": str(following)}
        send(id=number, result={"tools": tools, **more})
    elif method == "tools/list":
        (answered if STAGE == "call" else FLOODS[BEHAVIOUR])(number)
    elif method == "tools/call":
        (FLOODS[BEHAVIOUR] if STAGE == "call" else answered)(number)
    elif method in {"resources/list", "prompts/list"}:
        send(id=number, result={method.partition("/")[0]: []})
    elif number is not None:
        send(id=number, result={})


class Service(BaseHTTPRequestHandler):
    """Answers POST requests."""

    opened = 0

    def do_GET(self) -> None:
        """End the stream at once, to be opened again at once."""
        Service.opened += 1
        self._begin(200, "text/event-stream")
        self.wfile.write(b"retry: 0\n\n")

    def do_DELETE(self) -> None:
        self._begin(200, "application/json")

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        message = json.loads(self.rfile.read(length))
        if message.get("method") == "tools/list" and BEHAVIOUR == "reopened":
            self._begin(200, "application/json")
            tools = [tool(f"opened{number}") for number in range(self.opened)]
            self.wfile.write(line(id=message["id"], result={"tools": tools}).encode())
        elif message.get("method") == "tools/list" and BEHAVIOUR == "comments":
            self._begin(200, "text/event-stream")
            while True:
                self.wfile.write(b":\n" * 10_000)
        elif message.get("method") == "tools/list":
            self._begin(200, "text/event-stream")
            rows = 1 if BEHAVIOUR == "wide" else ROWS
            while True:
                self.wfile.write(f"event: message\ndata: {EVENTS[BEHAVIOUR]}\n\n".encode() * rows)
        elif message.get("method") == "initialize":
            self._begin(200, "application/json")
            self.wfile.write(line(id=message["id"], result=INITIALIZED).encode())
        elif "method" in message and "id" in message:
            self._begin(200, "application/json")
            error = {"code": -32601, "message": "no"}
            self.wfile.write(line(id=message["id"], error=error).encode())
        elif "result" in message:
            time.sleep(60)  # takes no answers
        else:
            self._begin(202, "application/json")

    def _begin(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        if BEHAVIOUR == "reopened":
            self.send_header("mcp-session-id", "1")
        self.end_headers()


EVENTS = {
    "requests": json.dumps({"jsonrpc": "2.0", "id": 7, **ROOTS}),
    "notifications": json.dumps({"jsonrpc": "2.0", **LOG}),
    "wide": json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"a": [[]] * 400_000}})
    if BEHAVIOUR == "wide"
    else "",
}


def main() -> None:
    if STAGE == "http":
        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Service).serve_forever()
    if BEHAVIOUR == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for row in sys.stdin:
        answer_to(json.loads(row))
    while BEHAVIOUR == "deaf":
        time.sleep(1)


if __name__ == "__main__":
    main()
