"""Names of files that usually hold keys, passwords or logins.

The list is data, ``secret_files.json``, with its sources. Only names are considered. Everything
that opens files for a model checks it first: file tools, search, previews, attachments, artifacts,
the command sandbox, completions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from jupyter_ai_shoulders.core.sensitive_files.path_patterns import (
    PathPatterns,
    plain_name,
    plain_parts,
)

_STATE = ".shoulders"


class _SecretFileRow(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    files: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    of: str = ""
    source: str = ""
    about: str = ""
    endings: tuple[str, ...] = ()

    def patterns(self) -> PathPatterns:
        return PathPatterns(self.files, self.places)


class _SecretFileTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    shown: _SecretFileRow
    open: _SecretFileRow
    servers: _SecretFileRow
    groups: tuple[_SecretFileRow, ...]


def is_secret(path: str) -> bool:
    """Return whether a path (with ``/``) names a file that usually holds keys or passwords.

    Includes the state directory, except for its readable parts: skills, artifacts, ``system.md``.
    """
    return has_secret_name(plain_parts(path))


def secret_names(folder: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the names in a folder (with ``/``, empty for the root) for which ``is_secret``."""
    parts = plain_parts(folder) if folder else []
    if parts[:1] != [_STATE] and not _secret().begins_location(parts):
        parts = []  # decides the same in less time
    for name in names:
        if has_secret_name([*parts, plain_name(name)]):
            yield name


def has_secret_name(parts: Sequence[str]) -> bool:
    """Return the same for a path in the form of ``path_patterns.plain_parts``."""
    if _is_open(parts):
        return False
    if _secret().is_in_location(parts):
        return True
    name = parts[-1]
    if not _secret().match_name(name):
        return False
    return not (name.endswith(_table().shown.endings) or _shown().match_name(name))


def is_server_login(path: str) -> bool:
    """Return whether a path names login data of a running Jupyter server, which is never shown."""
    return _servers().match(plain_parts(path))


def secret_locations() -> tuple[str, ...]:
    """Return the locations of the list, relative to a home directory, with ``/``."""
    return tuple(place for group in _table().groups for place in group.places)


def _is_open(parts: Sequence[str]) -> bool:
    """Return whether a path is in a readable part of the state directory."""
    if parts[0] != _STATE:
        return False
    return any(list(parts[: len(place)]) == place for place in _open_places())


@cache
def _table() -> _SecretFileTable:
    text = (
        files("jupyter_ai_shoulders.core.sensitive_files")
        .joinpath("secret_files.json")
        .read_text("utf-8")
    )
    return _SecretFileTable.model_validate_json(text)


@cache
def _secret() -> PathPatterns:
    groups = _table().groups
    return PathPatterns(
        (name for group in groups for name in group.files),
        (place for group in groups for place in group.places),
    )


@cache
def _servers() -> PathPatterns:
    return _table().servers.patterns()


@cache
def _shown() -> PathPatterns:
    return _table().shown.patterns()


@cache
def _open_places() -> list[list[str]]:
    return [plain_parts(place) for place in _table().open.places]
