"""Removes providers' keys from this process's environment, and keeps them for our providers.

Child processes (kernels, terminals, commands, language servers) inherit the environment, so they
start without keys. Made where ``Shoulders.keys_from_kernels`` is ``remove``: by ``server.app``
before the server answers requests, and by ``cli.in_process``.
"""

from __future__ import annotations

import json
import logging
from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.core.catalogue.key_variables import catalogue_variables
from jupyter_ai_shoulders.core.web_services import KEY_VARIABLES
from jupyter_ai_shoulders.guard.config_files import read_json_config

_log = logging.getLogger(__name__)

_NEEDED = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "LANG", "LANGUAGE", "PWD"),
        *("TMPDIR", "TMP", "TEMP", "HOSTNAME", "VIRTUAL_ENV", "LD_LIBRARY_PATH"),
        *("SYSTEMROOT", "USERPROFILE", "APPDATA", "COMSPEC", "PATHEXT"),
    }
)
_NEEDED_PREFIXES = ("JUPYTER", "JPY_", "SHOULDERS_", "LC_", "XDG_", "PYTHON", "CONDA_")
"""Programs need these, even where a provider's settings use one of them. They include the token
that a hub gives a server: it is its user's own, and the hub's clients need it.
"""


class KeyEnvironment:
    """The variables of providers, withdrawn from an environment."""

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        """``environ`` is the environment of child processes, ``os.environ``."""
        self._environ = environ
        self._withdrawn: dict[str, str] = {}
        self._names: set[str] = set()

    @property
    def complete(self) -> Mapping[str, str]:
        """The environment including the withdrawn variables, for our own providers."""
        return ChainMap(self._environ, self._withdrawn)

    def withdraw(self, names: Iterable[str]) -> None:
        """Remove variables from the environment; those that programs need stay."""
        self._names.update(name for name in names if not _is_needed(name))
        for name in self._names & self._environ.keys():
            self._withdrawn[name] = self._environ.pop(name)

    def without_keys(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return another environment without the variables withdrawn so far."""
        return {name: value for name, value in environ.items() if name not in self._names}


def withdraw_configured_keys(
    environ: MutableMapping[str, str], trait: Mapping[str, Any], user_catalogue: Path
) -> KeyEnvironment:
    """Return the environment without the keys that the shipped, trait and user catalogues name.

    A folder's catalogue is handled after merging, which decides what it may name.
    """
    keys = KeyEnvironment(environ)
    shipped = (
        files("jupyter_ai_shoulders.core.catalogue").joinpath("models.json").read_text("utf-8")
    )
    keys.withdraw(catalogue_variables(json.loads(shipped)))
    keys.withdraw(KEY_VARIABLES)
    keys.withdraw(catalogue_variables(trait))
    keys.withdraw(catalogue_variables(_read(user_catalogue)))
    return keys


def _read(path: Path) -> object:
    """Return the JSON of a file; None if it is missing or unreadable."""
    try:
        return json.loads(read_json_config(path).decode("utf-8-sig"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        _log.warning("The key variables in %s are not known: %s", path, error)
        return None


def _is_needed(name: str) -> bool:
    return name.upper() in _NEEDED or name.upper().startswith(_NEEDED_PREFIXES)
