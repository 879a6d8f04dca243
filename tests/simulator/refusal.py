"""The exception of all checks, with the vendor's status and message.

Raised by the rules of each format; the format's ``errors`` module turns it into a body.
"""

from __future__ import annotations


class RequestRefused(Exception):
    """A request the real service would refuse too."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        type: str = "invalid_request_error",  # noqa: A002 - the field's name in both formats
        param: str | None = None,
        code: str | int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.type = type
        self.param = param
        self.code = code
