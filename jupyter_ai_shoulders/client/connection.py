"""One HTTP connection to a server's API: wire models in and out, its errors as exceptions.

Used by ``client`` and ``turn``. Blocking, because a notebook's cell is.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from jupyter_ai_shoulders.client.errors import NotAllowed, Refused, ServerNotFound, Unreachable
from jupyter_ai_shoulders.client.lazy_imports import ev, httpx, pydantic, wire
from jupyter_ai_shoulders.client.server_discovery import LOOPBACK, TOKEN, ServerAddress
from jupyter_ai_shoulders.wire.ids import SessionId

API = "shoulders/api/v1/"
ANSWER_SECONDS = 60.0
SILENCE_SECONDS = 45.0
"""Three heartbeats of the server."""
CONNECT_SECONDS = 5.0
SERVER_FAILS = 500
"""Statuses from here on may be temporary."""
RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Pauses before a broken stream is resumed; a restarting server needs some seconds."""

ModelT = TypeVar("ModelT", bound="pydantic.BaseModel")


_DATA = b"data:"


class Connection:
    """A connection to one server; close it."""

    def __init__(
        self,
        address: ServerAddress,
        transport: httpx.BaseTransport | None = None,
        pauses: tuple[float, ...] = RETRY_SECONDS,
    ) -> None:
        """Send nothing yet. ``transport`` replaces sockets in tests.

        Raises ``ServerNotFound`` for an invalid address.
        """
        self.address = address
        self._pauses = pauses
        if transport is None and address.socket:
            transport = httpx.HTTPTransport(uds=address.socket)
        try:
            self._http = _opened(address, transport)
        except (ValueError, httpx.InvalidURL) as error:
            raise ServerNotFound(
                f"{address.url} and its token cannot be used ({error}). Give an address like "
                "http://localhost:8888/, and the token as the server prints it."
            ) from error
        self._greeted = False

    def close(self) -> None:
        """Close the sockets."""
        self._http.close()

    def get(self, path: str, /, model: type[ModelT], **query: object) -> ModelT:
        """Return a route's JSON as a model. Raises ``Refused``, ``Unreachable``."""
        given = {name: str(value) for name, value in query.items() if value is not None}
        return self._read(self._send("GET", path, params=given), model)

    def text(self, path: str, /, **query: str) -> str:
        """Return a route's answer as text. Raises ``Refused``, ``Unreachable``."""
        return self._send("GET", path, params=query).text

    def post(self, path: str, body: pydantic.BaseModel | None, model: type[ModelT]) -> ModelT:
        """Send a command and return the answer. Raises ``Refused``, ``Unreachable``."""
        return self._read(self.send("POST", path, body), model)

    def send(
        self, method: str, path: str, body: pydantic.BaseModel | None = None
    ) -> httpx.Response:
        """Send a command. Raises ``Refused``, ``Unreachable``."""
        self._greet()
        text = "{}" if body is None else body.model_dump_json(exclude_none=True, by_alias=True)
        # The server accepts a command with an id once, however often it is sent.
        known = method != "POST" or getattr(body, "id", None) is not None
        return self._send(method, path, again=known, content=text)

    def forward(self, method: str, path: str, body: str | None = None) -> httpx.Response:
        """Forward another program's request below the API's root; return the answer, also an error.

        Raises ``ValueError`` for a path outside the API, ``NotAllowed``, ``Unreachable``.
        """
        if method != "GET":
            self._greet()
        headers = {"Content-Type": "application/json"}
        try:
            request = self._http.build_request(
                method, f"{API}{path}", content=body, headers=headers
            )
        except httpx.InvalidURL as error:
            raise ValueError(f"{path!r} is no path: {error}.") from error
        if not request.url.raw_path.startswith(self._http.base_url.raw_path + API.encode()):
            raise ValueError(f"{path!r} leads out of {self.address.url}{API}.")
        try:
            response = self._http.send(request)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        if response.is_redirect or response.status_code == 401:
            raise self._refusal(response)
        return response

    def handshake_error(self, status: int) -> NotAllowed | Unreachable:
        """Return the error for a socket whose handshake was answered with this status."""
        if status in {401, 403} or 300 <= status < 400:
            return NotAllowed(status, _not_allowed(self.address))
        return Unreachable(
            f"{self.address.url} answers {status} where a socket was to open. Is "
            "jupyter-ai-shoulders installed and enabled there, in this version?"
        )

    @property
    def cookies(self) -> str:
        """The cookies by which a server without a token recognises us, as the text of a header."""
        self._greet()
        return "; ".join(f"{name}={value}" for name, value in self._http.cookies.items())

    def events(self, session_id: SessionId, after: int) -> Generator[ev.Event]:
        """Yield the session's events, past and future; a broken stream is resumed.

        A stream that the server, or a hub's proxy before it, temporarily fails to open (5xx) is
        retried too. Raises ``Refused``, ``Unreachable``.
        """
        tries = 0
        while True:
            try:
                for event in self._stream(session_id, after):
                    after, tries = event.seq, 0
                    yield event
            except httpx.TransportError as error:
                if tries >= len(self._pauses):
                    raise self._unreachable(error) from error
            except Refused as error:
                if error.status < SERVER_FAILS or tries >= len(self._pauses):
                    raise
            if tries >= len(self._pauses):
                raise Unreachable(f"{self.address.url} ends the stream of {session_id} each time.")
            time.sleep(self._pauses[tries])
            tries += 1

    def _stream(self, session_id: SessionId, after: int) -> Iterator[ev.Event]:
        with self._http.stream(
            "GET",
            f"{API}sessions/{quote(session_id, safe='')}/events",
            params={"after": str(after)},
            headers={"Accept": "text/event-stream"},
            timeout=httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
        ) as response:
            if response.is_error or response.is_redirect:
                response.read()
                raise self._refusal(response)
            yield from parse_events(response.iter_bytes())

    def _send(self, method: str, path: str, *, again: bool = True, **kwargs: Any) -> httpx.Response:
        """Send a request; retry once (``again``) when a kept connection turns out to be closed."""
        try:
            response = self._http.request(method, f"{API}{path}", **kwargs)
        except httpx.TransportError as error:
            if again and isinstance(error, _closed_errors()):
                return self._send(method, path, again=False, **kwargs)
            raise self._unreachable(error) from error
        if response.is_error or response.is_redirect:  # a redirect leads to the login page
            raise self._refusal(response)
        return response

    def _greet(self) -> None:
        """Fetch the cookie that a server without a token requires with each command."""
        if self.address.token or self._greeted:
            return
        self._greeted = True
        try:
            self._http.get("login")
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        self._http.headers["X-XSRFToken"] = self._http.cookies.get("_xsrf") or ""

    def _read(self, response: httpx.Response, model: type[ModelT]) -> ModelT:
        try:
            return model.model_validate_json(response.content)
        except pydantic.ValidationError as error:
            raise self._unlike(response) from error

    def _refusal(self, response: httpx.Response) -> Refused:
        status = response.status_code
        if status in {401, 403} or response.is_redirect:
            return NotAllowed(status, _not_allowed(self.address))
        try:
            info = wire.ErrorBody.model_validate_json(response.content).error
        except pydantic.ValidationError:
            return self._unlike(response)
        return Refused(status, info)

    def _unlike(self, response: httpx.Response) -> Refused:
        code: wire.ErrorCode = "unknown_route" if response.status_code == 404 else "internal"
        return Refused(
            response.status_code,
            wire.ErrorInfo(
                code=code,
                message=f"{response.url} answers {response.status_code}, and not as the "
                "AI colleague does.",
                hint="Is jupyter-ai-shoulders installed and enabled in the server's environment, "
                "in this version? `jupyter shoulders doctor` checks.",
            ),
        )

    def _unreachable(self, error: Exception) -> Unreachable:
        return Unreachable(
            f"{self.address.url} does not answer ({type(error).__name__}: {error}). "
            "Is the Jupyter server running there?"
        )


def _opened(address: ServerAddress, transport: httpx.BaseTransport | None) -> httpx.Client:
    """Return an HTTP client. Raises ``ValueError``, ``InvalidURL`` for invalid input."""
    return httpx.Client(
        base_url=address.url,
        headers={"Authorization": f"token {address.token}"} if address.token else {},
        timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
        transport=transport,
        # a proxy of the environment must not see local traffic
        trust_env=urlsplit(address.url).hostname not in LOOPBACK,
    )


def _closed_errors() -> tuple[type[Exception], ...]:
    """Return the errors of a request on a kept connection that the server has closed in between."""
    return (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)


def _not_allowed(address: ServerAddress) -> wire.ErrorInfo:
    if address.token:
        return wire.ErrorInfo(
            code="unauthorized",
            message=f"{address.url} does not take this token, or its user may not do this.",
            hint=f"Give Client(token=…), or set {TOKEN}, to a token of this server.",
        )
    return wire.ErrorInfo(
        code="unauthorized",
        message=f"{address.url} wants a token, and none is known here.",
        hint=f"Give Client(token=…), or set {TOKEN}. A server with a password only has no token: "
        "start it with the environment variable JUPYTER_TOKEN as well; programs of other users can "
        "read its command line.",
    )


def parse_events(pieces: Iterable[bytes]) -> Iterator[ev.Event]:
    """Yield the events of a stream that arrives in pieces; an unfinished last one is dropped."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(_DATA):
                yield ev.parse_event(line.removeprefix(_DATA).strip())
