"""What a user's sign-in at an MCP server leaves behind; loads no SDK."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from jupyter_ai_shoulders.wire.base import Json, JsonObject

_SECRET_FIELDS = ("access_token", "refresh_token", "id_token", "client_secret")


class StoredSignIn(BaseModel):
    """Tokens and registration at one server, in the forms of OAuth."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    url: str
    """The server's address; the tokens go nowhere else."""
    client: JsonObject | None = Field(default=None, repr=False)
    """Our registration (RFC 7591)."""
    tokens: JsonObject | None = Field(default=None, repr=False)
    """The token response (RFC 6749, section 5.1)."""
    expires_at: float | None = None
    """Seconds since the epoch."""
    metadata: JsonObject | None = None
    """Of the authorisation server (RFC 8414)."""

    def secrets(self) -> Iterator[str]:
        """Yield the values that must not be shown."""
        for part in (self.client, self.tokens):
            values: list[Json] = [part.get(name) for name in _SECRET_FIELDS] if part else []
            yield from (value for value in values if isinstance(value, str) and value)


class SignInStore(Protocol):
    """Keeps sign-ins by the name of the server."""

    async def load(self, server: str) -> StoredSignIn | None:
        """Return the sign-in of a server, or None."""
        ...

    async def save(self, server: str, sign_in: StoredSignIn) -> None:
        """Replace the sign-in of a server. Raises ``StateUnavailable``."""
        ...
