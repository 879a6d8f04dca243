"""Base class of HTTP handlers: authorisation, wire models in and out, error answers.

A handler authorises, parses, calls one service and answers; see docs/design/wire-and-api.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, TypeVar, cast

from jupyter_server.auth import IdentityProvider
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from pydantic import BaseModel
from tornado import web
from tornado.web import HTTPError

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidNotebook,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ProviderError,
    ShouldersError,
    StateUnavailable,
    TooLarge,
)
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.server.auth.kernel_access import (
    KernelAuthenticator,
    refuse_privilege_escalation,
)
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelIdentity
from jupyter_ai_shoulders.server.auth.user_identity import owner_of
from jupyter_ai_shoulders.server.handlers.request_body import (
    MAX_VALUES,
    SMALL_BODY_BYTES,
    adapter_of,
    check_size,
    parse_body,
    parse_value,
)
from jupyter_ai_shoulders.storage.errors import session_not_found
from jupyter_ai_shoulders.storage.json_encoding import encode_model
from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.errors import ErrorBody, ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.ids import ClientId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session

AUTH_RESOURCE = "shoulders"
PAGE_HEADER = "X-Shoulders-Page"
"""Names the page that sends a request, by the id of its socket's hello."""
MAX_ID_CHARACTERS = 128
DOWNLOAD_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"

ModelT = TypeVar("ModelT", bound=BaseModel)

HostSource = Callable[[], Awaitable[Host]]
"""Returns the host, building it on first use."""

ExcInfo = tuple[type[BaseException], BaseException, TracebackType]


class ShouldersHandler(APIHandler):
    """Base of the handlers of this extension."""

    auth_resource = AUTH_RESOURCE
    max_body_bytes = SMALL_BODY_BYTES
    """Maximum bytes of a request body; larger only on routes that take pictures or long texts."""
    max_body_values = MAX_VALUES
    """Maximum JSON values of a request body."""

    _kernel: KernelIdentity | None = None
    _authenticator: KernelAuthenticator | None = None

    def initialize(self, host_source: HostSource, **route: Any) -> None:
        """Called by tornado with the route's arguments; an ``authenticator`` admits kernels."""
        self._host_source = host_source
        self._authenticator = route.get("authenticator")

    @property
    def identity_provider(self) -> IdentityProvider:
        """The server's identity provider, or that of a kernel."""
        return self._kernel or super().identity_provider

    async def prepare(self) -> None:
        """Authenticate as Jupyter does, or by a kernel's secret; check the body's size; get the
        host.
        """
        if self._authenticator is not None:
            self._kernel = self._authenticator.identity(self.request)
        await super().prepare()
        if self.current_user and not self._finished:
            await check_size(self.request.body, self.max_body_bytes, self.max_body_values)
            self.host = await self._host_source()
            self.host.services.current_page.set_client(self.client_id)

    @property
    def client_id(self) -> ClientId | None:
        """The page that sent the request, by the id of its socket; None for other clients."""
        name = self.request.headers.get(PAGE_HEADER, "")
        return ClientId(name) if 0 < len(name) <= MAX_ID_CHARACTERS else None

    @property
    def is_still_authorized(self) -> bool:
        """Whether the kernel that sent the request, if any, still runs."""
        return self._kernel is None or bool(
            self._authenticator and self._authenticator.identity(self.request)
        )

    @property
    def user(self) -> str | None:
        """The user whose sessions are accessible; None where users are not distinguished."""
        return owner_of(self.current_user) if self.host.settings.has_owners else None

    def session(self, session_id: str) -> Session:
        """Return a session this user may access. Raises ``NotFound``."""
        session = self.host.sessions.get(SessionId(session_id))
        if self.user is not None and session.owner not in {None, self.user}:
            raise session_not_found(session_id)
        return session

    def may_see(self, session_id: SessionId) -> bool:
        """Return whether this user may access a session and its data."""
        if self.user is None:
            return True
        try:
            self.session(session_id)
        except NotFound:
            return False
        return True

    def body(self, model: type[ModelT]) -> ModelT:
        """Return the request's body, whose size ``prepare`` checked.

        Raises ``InvalidRequest``, ``PolicyRefusal``, ``TooLarge``.
        """
        command = parse_body(model, self.request.body)
        if self._kernel is not None:
            refuse_privilege_escalation(command)
        return command

    def query(self, model: type[ModelT]) -> ModelT:
        """Return the request's query arguments. Raises ``InvalidRequest``."""
        names = (field.alias or name for name, field in model.model_fields.items())
        given = {name: self.get_query_argument(name, None) for name in names}
        present = {name: value for name, value in given.items() if value is not None}
        return parse_value(adapter_of(model), present)

    def answer(self, model: WireModel, status: int = 200) -> None:
        """Finish with a wire model."""
        self.answer_text(encode_model(model)[1], status)

    def answer_redacted(self, model: WireModel) -> None:
        """Finish with a wire model from which keys are removed."""
        self.answer_text(self.host.redact(encode_model(model)[1]))

    def answer_text(self, text: str, status: int = 200) -> None:
        """Finish with JSON that is already encoded."""
        self.set_status(status)
        self.finish(text)

    def accepted(self) -> None:
        """Finish: the command is accepted, and done now or later."""
        self.answer_text("{}", 202)

    def no_content(self) -> None:
        """Finish without content."""
        self.set_status(204)
        self.finish()

    def set_download_headers(self, disposition: str) -> None:
        """Make a browser save the answer, and never show it as a page of this server."""
        self.set_header("Content-Disposition", disposition)
        self.set_header("Content-Security-Policy", DOWNLOAD_POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Answer with the status of the raised error."""
        error = raised_error(kwargs)
        if isinstance(error, ShouldersError):
            status_code = status_of(error)
        super().send_error(status_code, **kwargs)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer with an error object."""
        error = raised_error(kwargs)
        if isinstance(error, ProviderError) and error.retry_after_ms is not None:
            self.set_header("Retry-After", str(-(-error.retry_after_ms // 1000)))
        body = encode_model(ErrorBody(error=error_info(status_code, error)))[1]
        self.finish(self.host.redact(body) if hasattr(self, "host") else body)

    def log_exception(
        self,
        typ: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        """Log bugs with their trace, expected errors in one line."""
        if isinstance(value, ShouldersError):
            self.log.info("%s %s: %s", self.request.method, self.request.path, value)
        else:
            super().log_exception(typ, value, tb)


def raised_error(kwargs: dict[str, Any]) -> BaseException | None:
    """Return the exception behind an error answer, from tornado's arguments of ``write_error``."""
    exc_info = cast("ExcInfo | None", kwargs.get("exc_info"))
    return exc_info[1] if exc_info else None


def error_info(status: int, error: BaseException | None) -> ErrorInfo:
    """Return the error object for a client."""
    if isinstance(error, ShouldersError):
        return error.info
    if isinstance(error, HTTPError):
        message = error.log_message or error.reason or f"The server answers {status}."
        return ErrorInfo(code=code_of(status), message=message)
    return ErrorInfo(
        code="internal",
        message="Something went wrong on the server.",
        hint="Its log has the details; please report it.",
    )


_BY_CODE: dict[ErrorCode, int] = {
    "unauthorized": 401,
    "forbidden": 403,
    "quarantined": 409,
    "no_model": 422,
    "no_key": 422,
    "budget_exhausted": 422,
    "rate_limited": 429,
    "quota_exhausted": 429,
}
_BY_CLASS: tuple[tuple[type[ShouldersError], int], ...] = (
    (InvalidRequest, 400),
    (InvalidNotebook, 400),
    (NotFound, 404),
    (Conflict, 409),
    (TooLarge, 413),
    (PolicyRefusal, 422),
    (ProviderError, 502),
    (StateUnavailable, 503),
)
_BY_STATUS: dict[int, ErrorCode] = {
    400: "invalid_request",
    401: "unauthorized",
    403: "forbidden",
    404: "unknown_route",
    405: "unknown_route",
    413: "too_large",
}


def status_of(error: BaseException) -> int:
    """Return the HTTP status for an error; 500 for a bug."""
    if isinstance(error, HTTPError):
        return error.status_code
    if not isinstance(error, ShouldersError):
        return 500
    code = _BY_CODE.get(error.info.code)
    if code is not None:
        return code
    return next((status for kind, status in _BY_CLASS if isinstance(error, kind)), 500)


def code_of(status: int) -> ErrorCode:
    """Return the error code for a status that Jupyter or tornado chose."""
    return _BY_STATUS.get(status, "internal")


def _refusal() -> Callable[[UnknownRouteHandler], Awaitable[None] | None]:
    """Return a new method each time: ``authorized`` remembers the action of its first request."""

    @web.authenticated
    @authorized
    async def refuse(self: UnknownRouteHandler) -> None:
        raise self.refusal()

    return refuse


class UnknownRouteHandler(ShouldersHandler):
    """Any other path below the API's root: a JSON 404 for clients, not a page."""

    get = _refusal()
    head = _refusal()
    post = _refusal()
    put = _refusal()
    patch = _refusal()
    delete = _refusal()

    def refusal(self) -> NotFound:
        """Return the error that answers every request."""
        return NotFound(
            f"There is no route {self.request.method} {self.request.path}.",
            code="unknown_route",
            hint="A newer page may ask an older server: reload the page, or upgrade the package.",
        )
