"""API keys from the environment, then the OS keyring, then ``~/.shoulders/keys.env``.

Made by ``host``, used by ``registry``. Keys are named by their environment variable. Values are
used only for requests and redaction, and never shown.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol, cast

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, StateUnavailable
from jupyter_ai_shoulders.guard.config_files import UnusableFile, read_config
from jupyter_ai_shoulders.providers.private_file import replace_private

_LOG = logging.getLogger(__name__)

KEYRING_SERVICE = "jupyter-ai-shoulders"
MAX_KEY_LENGTH = 4_096
KeySource = Literal["environment", "keyring", "file"]

_LINE = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")


@dataclass(frozen=True, slots=True)
class Key:
    """A key and its source."""

    value: str = field(repr=False)
    source: KeySource

    @property
    def last4(self) -> str | None:
        """The last four characters, as a hint for users; None for short keys."""
        return self.value[-4:] if len(self.value) >= 12 else None


class Keyring(Protocol):
    """The part of the ``keyring`` package that is used."""

    def get_password(self, service: str, username: str, /) -> str | None:
        """Return the password, or None."""
        ...

    def set_password(self, service: str, username: str, password: str, /) -> None:
        """Store the password."""
        ...

    def delete_password(self, service: str, username: str, /) -> None:
        """Remove the password; raises when there is none."""
        ...


class KeyStore:
    """Finds, stores and removes keys. Results of the keyring are cached, as it can be slow."""

    def __init__(
        self, file: Path, environ: Mapping[str, str], keyring: Keyring | None = None
    ) -> None:
        """Keys are stored in ``keyring`` where it works, else in the file."""
        self._file = KeyFile(file)
        self._environ = environ
        self._keyring = keyring
        self._from_keyring: dict[str, str | None] = {}

    def get(self, name: str) -> Key | None:
        """Return the key of this name, or None. Empty values count as absent."""
        value = self._environ.get(name, "").strip()
        if value:
            return Key(value, "environment")
        value = self._keyring_value(name)
        if value:
            return Key(value, "keyring")
        value = self._file.read().get(name)
        return Key(value, "file") if value else None

    def set(self, name: str, value: str) -> Key:
        """Store a key and return it as ``get`` will.

        Raises ``InvalidRequest`` for an invalid key, ``Conflict`` when the environment has one (it
        takes precedence), ``StateUnavailable`` when the file cannot be written.
        """
        value = value.strip()
        self.check(name, value)
        if self._keyring is not None and self._set_in_keyring(name, value):
            self._file.update(name, None)
            return Key(value, "keyring")
        self._file.update(name, value)
        return Key(value, "file")

    def remove(self, name: str) -> None:
        """Remove a stored key; nothing happens when there is none.

        Raises ``Conflict`` when it comes from the environment, ``StateUnavailable``.
        """
        if self._environ.get(name, "").strip():
            raise Conflict(
                f"The key {name} comes from the environment and cannot be removed here.",
                hint=f"Unset {name} where the Jupyter server is started, and restart it.",
            )
        if self._keyring_value(name) and self._keyring is not None:
            self._remove_from(self._keyring, name)
        self._file.update(name, None)

    def values(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return all values of these names from all sources, for redaction."""
        stored = self._file.read()
        found = (
            value
            for name in names
            for value in (
                self._environ.get(name, "").strip(),
                self._keyring_value(name),
                stored.get(name),
            )
        )
        return tuple(sorted({value for value in found if value}))

    def check(self, name: str, value: str) -> None:
        """Raise ``InvalidRequest`` or ``Conflict`` for a key that could not be stored."""
        if (
            not value
            or len(value) > MAX_KEY_LENGTH
            or not value.isascii()
            or not value.isprintable()
        ):
            raise InvalidRequest(
                "This is not a key: keys are one line of printable ASCII characters.",
                hint="Copy the key again from the provider's page.",
            )
        if any(letter.isspace() for letter in value):
            raise InvalidRequest("This is not a key: keys have no spaces.")
        if self._environ.get(name, "").strip():
            raise Conflict(
                f"{name} is set in the environment of the Jupyter server, which takes precedence"
                " over stored keys.",
                hint=f"Unset {name} where the server is started, or change it there.",
            )

    def _keyring_value(self, name: str) -> str | None:
        if self._keyring is None:
            return None
        if name not in self._from_keyring:
            self._from_keyring[name] = _ask(self._keyring, name)
        return self._from_keyring[name]

    def _set_in_keyring(self, name: str, value: str) -> bool:
        """Store a key in the keyring and return whether that worked; keyrings may be locked or
        headless.
        """
        keyring = cast("Keyring", self._keyring)
        try:
            keyring.set_password(KEYRING_SERVICE, name, value)
        except Exception as error:  # noqa: BLE001 - back ends raise whatever their system raises
            _LOG.warning("The keyring did not store %s: %s", name, type(error).__name__)
        stored = _ask(keyring, name)
        self._from_keyring[name] = stored
        return stored == value

    def _remove_from(self, keyring: Keyring, name: str) -> None:
        try:
            keyring.delete_password(KEYRING_SERVICE, name)
        except Exception as error:
            raise StateUnavailable(
                f"The keyring did not remove {name} ({type(error).__name__}).",
                hint=f"Remove {KEYRING_SERVICE} / {name} with the system's keyring program.",
            ) from error
        self._from_keyring[name] = None


class KeyFile:
    """``keys.env``: lines of ``NAME=value``, readable by the user alone, replaced atomically."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._signature: tuple[int, int] | None = None
        self._known: dict[str, str] = {}

    def read(self) -> Mapping[str, str]:
        """Return the keys in the file; none when it does not exist or cannot be read."""
        try:
            found = self._path.stat()
            signature = (found.st_mtime_ns, found.st_size)
            if signature != self._signature:
                self._known = self._usable_pairs()
                self._signature = signature
        except OSError:
            return {}
        return self._known

    def _usable_pairs(self) -> dict[str, str]:
        try:
            return dict(_pairs(self._text()))
        except UnusableFile as error:
            _LOG.warning("No keys are read from %s. %s", self._path, error)
            return {}

    def _text(self) -> str:
        return read_config(self._path).decode("utf-8", "replace")

    def update(self, name: str, value: str | None) -> None:
        """Set or remove one key; other lines stay. Raises ``StateUnavailable``."""
        if value is None and name not in self.read():
            return
        try:
            text = self._text() if self._path.exists() else ""
            kept = [line for line in text.splitlines() if _name_of(line) != name]
            lines = kept if value is None else [*kept, f"{name}={value}"]
            replace_private(self._path, "".join(f"{line}\n" for line in lines))
        except OSError as error:
            raise StateUnavailable(
                f"The key could not be saved: {self._path} cannot be written ({error.strerror}).",
                hint=f"Make the file writable, or set {name} in the environment.",
            ) from error
        self._signature = None


class SystemKeyring:
    """The system's keyring; stores nothing where there is no real one.

    Loaded at the first use: the package loads slowly and may call other processes.
    """

    def __init__(self) -> None:
        self._backend: Keyring | None = None
        self._looked = False

    def get_password(self, service: str, username: str, /) -> str | None:
        """Return the password, or None."""
        backend = self._find()
        return None if backend is None else backend.get_password(service, username)

    def set_password(self, service: str, username: str, password: str, /) -> None:
        """Store the password."""
        backend = self._find()
        if backend is not None:
            backend.set_password(service, username, password)

    def delete_password(self, service: str, username: str, /) -> None:
        """Remove the password."""
        backend = self._find()
        if backend is not None:
            backend.delete_password(service, username)

    def _find(self) -> Keyring | None:
        if not self._looked:
            self._backend = _real_backend()
            self._looked = True
        return self._backend


def system_keyring() -> Keyring:
    """Return the system's keyring, which loads at its first use."""
    return SystemKeyring()


def _real_backend() -> Keyring | None:
    try:
        keyring: Any = import_module("keyring")
    except ImportError:
        return None
    backend = keyring.get_keyring()
    # below 1 are the null and fail back ends, and those that store plain text
    return cast("Keyring", backend) if backend.priority >= 1 else None


def _ask(keyring: Keyring, name: str) -> str | None:
    try:
        return (keyring.get_password(KEYRING_SERVICE, name) or "").strip() or None
    except Exception as error:  # noqa: BLE001 - back ends raise whatever their system raises
        _LOG.warning("The keyring did not answer for %s: %s", name, type(error).__name__)
        return None


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        found = _LINE.match(line)
        if found:
            yield found.group(1), _unquoted(found.group(2))


def _name_of(line: str) -> str | None:
    found = _LINE.match(line)
    return found.group(1) if found else None


def _unquoted(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value
