"""The one way a check says no: an exception that carries the vendor's status and words.

Raised by the rules of each format, turned into a body by the format's ``errors`` module.
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
