"""Access tokens that open the MCP server to a program, with a limited scope.

Kept in ``~/.shoulders/mcp_tokens.json``, which is private and outside the workspace: a cloned
folder cannot bring one. Secrets are stored as hashes. Made by ``ProtocolServices``; checked by
``server.mcp``, changed by the handlers of ``access-tokens``.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, StateUnavailable
from jupyter_ai_shoulders.guard.config_files import read_json_config
from jupyter_ai_shoulders.providers.private_file import replace_private
from jupyter_ai_shoulders.wire.api.access_tokens import (
    AccessScope,
    AccessToken,
    CreatedAccessToken,
    PostAccessToken,
)

_log = logging.getLogger(__name__)

SECRET_PREFIX = "shoulders-mcp."  # noqa: S105 not a secret, but what secrets begin with
RANDOM_BYTES = 32
MOST_TOKENS = 100
USE_WRITTEN_AFTER = timedelta(minutes=10)
"""How old the stored time of the last use may be."""


class StoredToken(BaseModel):
    """A token in the file."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    id: str
    name: str
    scopes: tuple[AccessScope, ...]
    sha256: str
    username: str
    """The user it acts for; empty where users are not distinguished."""
    created_at: str
    last_used_at: str | None = None

    def shown(self) -> AccessToken:
        """Return the token without its hash."""
        return AccessToken(
            id=self.id,
            name=self.name,
            scopes=self.scopes,
            created_at=self.created_at,
            last_used_at=self.last_used_at,
        )


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    tokens: tuple[StoredToken, ...] = ()


class AccessTokens:
    """The tokens of one user's home directory; safe for concurrent calls."""

    def __init__(self, path: Path, clock: Clock) -> None:
        """Read nothing until it is used."""
        self._path = path
        self._clock = clock
        self._lock = asyncio.Lock()
        self._used: dict[str, datetime] = {}
        """When each token was last used, newer than in the file."""
        self._temporary: dict[str, StoredToken] = {}
        """Tokens that end with the server, by id; never in the file."""

    async def list(self, username: str | None) -> tuple[AccessToken, ...]:
        """Return the tokens of a user, of all for None. Raises ``StateUnavailable``."""
        stored = (*await asyncio.to_thread(self._read), *self._temporary.values())
        return tuple(self._current(token).shown() for token in stored if _of(token, username))

    async def create(self, command: PostAccessToken, username: str) -> CreatedAccessToken:
        """Store a new token; its secret is returned this once.

        Raises ``InvalidRequest`` (name taken, too many) and ``StateUnavailable``.
        """
        secret, token = self._made(command, username)

        def added(stored: tuple[StoredToken, ...]) -> tuple[StoredToken, ...]:
            if any(other.name == token.name and other.username == username for other in stored):
                raise InvalidRequest(
                    f"name: there is already a token named {token.name!r}.",
                    hint="Choose another name, or revoke that token first.",
                )
            if len(stored) >= MOST_TOKENS:
                raise InvalidRequest(
                    f"There are {MOST_TOKENS} tokens already.", hint="Revoke one first."
                )
            return (*stored, token)

        await self._change(added)
        return CreatedAccessToken(token=token.shown(), secret=secret)

    def create_temporary(self, command: PostAccessToken, username: str) -> CreatedAccessToken:
        """Make a token that is gone when the server ends, however it ends."""
        secret, token = self._made(command, username)
        self._temporary[token.id] = token
        return CreatedAccessToken(token=token.shown(), secret=secret)

    def _made(self, command: PostAccessToken, username: str) -> tuple[str, StoredToken]:
        secret = f"{SECRET_PREFIX}{secrets.token_urlsafe(RANDOM_BYTES)}"
        token = StoredToken(
            id=f"tok_{secrets.token_hex(8)}",
            name=command.name,
            scopes=tuple(dict.fromkeys(command.scopes)),
            sha256=_hash(secret),
            username=username,
            created_at=timestamp(self._clock.now()),
        )
        return secret, token

    async def revoke(self, token_id: str, username: str | None) -> None:
        """Remove a token; requests with it are refused from now on.

        Raises ``NotFound`` and ``StateUnavailable``.
        """
        temporary = self._temporary.get(token_id)
        if temporary is not None and _of(temporary, username):
            del self._temporary[token_id]
            return

        def removed(stored: tuple[StoredToken, ...]) -> tuple[StoredToken, ...]:
            rest = tuple(t for t in stored if t.id != token_id or not _of(t, username))
            if len(rest) == len(stored):
                raise NotFound(f"There is no access token {token_id}.")
            return rest

        await self._change(removed)

    async def find(self, secret: str) -> StoredToken | None:
        """Return the token of a secret and note its use; None if it is unknown or revoked."""
        if not secret.startswith(SECRET_PREFIX):
            return None
        given, found = _hash(secret), None
        for token in self._temporary.values():
            if hmac.compare_digest(token.sha256, given):
                self._used[token.id] = self._clock.now()
                return token
        for token in await asyncio.to_thread(self._read):
            if hmac.compare_digest(token.sha256, given):
                found = token
        if found is not None:
            await self._note_use(found)
        return found

    async def _note_use(self, token: StoredToken) -> None:
        now = self._clock.now()
        last = self._used.get(token.id)
        if last is not None and now - last < USE_WRITTEN_AFTER:
            return
        self._used[token.id] = now
        try:
            await self._change(lambda stored: tuple(map(self._current, stored)))
        except StateUnavailable:  # the token works all the same
            _log.warning("The use of the access token %s could not be stored.", token.name)

    def _current(self, token: StoredToken) -> StoredToken:
        used = self._used.get(token.id)
        return token if used is None else token.model_copy(update={"last_used_at": timestamp(used)})

    async def _change(
        self, change: Callable[[tuple[StoredToken, ...]], tuple[StoredToken, ...]]
    ) -> None:
        async with self._lock:
            await asyncio.to_thread(lambda: self._write(change(self._read())))

    def _read(self) -> tuple[StoredToken, ...]:
        try:
            return _File.model_validate_json(read_json_config(self._path)).tokens
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except (OSError, ValidationError) as error:
            raise StateUnavailable(
                f"Could not read the access tokens in {self._path.name}.",
                hint="Move the file in ~/.shoulders away; tokens then have to be made again.",
            ) from error

    def _write(self, tokens: tuple[StoredToken, ...]) -> None:
        try:
            replace_private(self._path, _File(tokens=tokens).model_dump_json(indent=1))
        except OSError as error:
            raise StateUnavailable(
                f"Could not store the access tokens: {error.strerror or error}.",
                hint="Make ~/.shoulders writable, then try again.",
            ) from error


def _of(token: StoredToken, username: str | None) -> bool:
    return username is None or token.username == username


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
